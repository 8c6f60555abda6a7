// The trace of one request, while it runs: its IDs, the time of each filter, and its calls to other servers.
import { randomBytes } from 'node:crypto';
import {
  type CurrentTrace,
  formatTraceparent,
  type TracedCall,
  type TraceParent,
} from '../upstream/trace-context.ts';

/** A filter that a request has passed. Times are those of the monotonic clock, in ms. */
interface PassedFilter {
  readonly name: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

interface Call {
  readonly spanID: string;
  readonly method: string;
  /** URL of the server, without a path. */
  readonly origin: string;
  readonly startedAt: number;
  /** Undefined while the call runs. */
  endedAt: number | undefined;
  /** Undefined without a response. */
  status: number | undefined;
}

/** Maximum number of calls with a span of their own. Further ones belong to the span of the request. */
export const MAX_CALLS = 64;

export class RequestTrace implements CurrentTrace {
  /** The span of the caller. */
  readonly parent: TraceParent | undefined;
  /** True if the spans are exported. Whether they are is known after authentication. */
  isSampled: boolean;
  filters: PassedFilter[] = [];
  calls: Call[] = [];
  /** False if the spans cannot become those of a sample. */
  readonly isRecorded: boolean;
  readonly #monotonic: () => number;
  #ids: string | undefined;
  #hasEnded = false;

  constructor(parent: TraceParent | undefined, isSampled: boolean, monotonic: () => number) {
    this.parent = parent;
    this.isSampled = isSampled;
    this.isRecorded = isSampled || parent?.isSampled === true;
    this.#monotonic = monotonic;
  }

  get id(): string {
    return this.parent?.traceID ?? this.#newIDs().slice(16);
  }

  get spanID(): string {
    return this.#newIDs().slice(0, 16);
  }

  passed(name: string, startedAt: number): void {
    if (!this.#hasEnded) this.filters.push({ name, startedAt, endedAt: this.#monotonic() });
  }

  startCall(method: string, origin: string): TracedCall | undefined {
    if (this.#hasEnded) return undefined;
    const { id: traceID, spanID, isSampled } = this;
    if (!this.isRecorded || this.calls.length >= MAX_CALLS) {
      return { traceparent: formatTraceparent({ traceID, spanID, isSampled }), ended: () => undefined };
    }
    const call: Call = {
      spanID: newSpanID(),
      method,
      origin,
      startedAt: this.#monotonic(),
      endedAt: undefined,
      status: undefined,
    };
    this.calls.push(call);
    return {
      traceparent: formatTraceparent({ traceID, spanID: call.spanID, isSampled }),
      ended: (status) => {
        call.endedAt ??= this.#monotonic();
        call.status ??= status;
      },
    };
  }

  /**
   * Ends the trace with the request. Later calls, for instance of caches, do not belong to it. Timers and connections that began during the
   * request keep the trace in memory, without its records.
   */
  end(): void {
    this.#hasEnded = true;
    this.filters = [];
    this.calls = [];
  }

  /** Created on first use, because a request without a sample and without calls needs none. */
  #newIDs(): string {
    this.#ids ??= randomBytes(24).toString('hex');
    return this.#ids;
  }
}

function newSpanID(): string {
  return randomBytes(8).toString('hex');
}
