// Trace context (W3C): the header `traceparent`, and the trace of the client request in whose work the HTTP client sends a request.
import { AsyncLocalStorage } from 'node:async_hooks';

/** The span of a caller. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceID: string;
  /** 16 hexadecimal digits. */
  readonly spanID: string;
  /** The caller records its span, and requests the same of its servers. */
  readonly isSampled: boolean;
}

/** The trace of a client request. */
export interface CurrentTrace {
  /** Starts a call to another server. Returns undefined after the end of the client request. `origin`: the URL of the server. */
  startCall(method: string, origin: string): TracedCall | undefined;
}

export interface TracedCall {
  /** Value of the header. */
  readonly traceparent: string;
  /** `status`: that of the response, or undefined if there was none. */
  ended(status: number | undefined): void;
}

/** Header of a call to another server. */
export const TRACEPARENT = 'traceparent';

/**
 * Headers of a client that the server replaces or removes while it traces. `tracestate` and `baggage` contain any text of a caller, and
 * their recipients store it.
 */
export const TRACE_HEADERS: ReadonlySet<string> = new Set([TRACEPARENT, 'tracestate', 'baggage']);

/** Version, trace ID, span ID and flags. Only a later version than 00 may have further fields. */
const PATTERN = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Returns undefined without a valid header. Node joins several headers of this name with commas, which is invalid. */
export function parseTraceparent(header: unknown): TraceParent | undefined {
  if (typeof header !== 'string') return undefined;
  const [, version, traceID, spanID, flags, rest] = PATTERN.exec(header) ?? [];
  if (traceID === undefined || spanID === undefined || flags === undefined) return undefined;
  if (version === '00' && rest !== undefined) return undefined;
  return { traceID, spanID, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ traceID, spanID, isSampled }: TraceParent): string {
  return `00-${traceID}-${spanID}-0${isSampled ? 1 : 0}`;
}

const current = new AsyncLocalStorage<CurrentTrace | undefined>();

/** Runs work of the client request, also its asynchronous part. */
export function runInTrace(trace: CurrentTrace, work: () => void): void {
  current.run(trace, work);
}

/** Runs work of the server itself that a client request has started. */
export function runUntraced<Result>(work: () => Result): Result {
  return current.run(undefined, work);
}

/** Starts a call within the trace of the client request, if there is one. */
export function startCall(method: string, origin: string): TracedCall | undefined {
  return current.getStore()?.startCall(method, origin);
}
