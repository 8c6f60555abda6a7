// Exchange: one HTTP request with its response in the filter chain. Handlers read an Exchange through the interface
// RequestContext.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { networkCaller } from '../admission/network.ts';
import type { Seat } from '../admission/seats.ts';
import type { Credential } from '../authentication/authenticator.ts';
import { ANONYMOUS, type UserInfo, userCaller } from '../authentication/user.ts';
import type { Decision } from '../authorization/authorizer.ts';
import { plainAddress } from '../request/plain-address.ts';
import type { RequestContext, Upgrade } from '../request/request-context.ts';
import type { RequestInfo } from '../request/request-info.ts';
import { pathIn, searchIn } from '../request/request-path.ts';
import type { SourceAddress } from '../request/source-address.ts';
import type { RequestTrace } from '../tracing/request-trace.ts';

const UNTRACED = {};
const UNPARSED: RequestInfo = { isResourceRequest: false, path: '', verb: '' };

/** A new request from a listener. */
export interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly secure: boolean;
  readonly upgrade: Upgrade | undefined;
}

/** The state of an admitted request. */
export interface Admitted {
  seat: Seat | undefined;
  /** Bytes of the response that the client had accepted at the last check. */
  sent: number;
  /** The time of the last check at which the request did not wait for its client. */
  workedAt: number;
  /** The time at which a preempted stream loses its connection. */
  destroyAt: number;
  /** The request waits for its client: its seat is one of the pool `stalled`. */
  stalled: boolean;
}

export class Exchange implements RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly secure: boolean;
  readonly upgrade: Upgrade | undefined;
  /** The IP address of the client; undefined if the socket was closed on arrival. */
  readonly source: string | undefined;
  readonly receivedAt: number;
  readonly startedAt: number;
  auditID = '';
  info: RequestInfo = UNPARSED;
  user: UserInfo = ANONYMOUS;
  credential: Credential | undefined;
  /** True once authentication has succeeded. Before, `user` is a placeholder. */
  authenticated = false;
  longRunning = false;
  /** Time of the monotonic clock at which the request ends with 504. */
  deadline = Number.POSITIVE_INFINITY;
  /** True if the gateway forwards the request to kube-apiserver, which authorizes it. */
  proxied = false;
  /** True for a forwarded request at `gateway.proxyHost`. */
  atProxyHost = false;
  /** Maximum size of the body that is forwarded. */
  maxBodyBytes = Number.POSITIVE_INFINITY;
  decision: Decision | undefined;
  /** The first error, for the log. */
  error: unknown;
  /** A status code that no response has: 101 after an upgrade, 499 if the client disconnected, else 0. */
  statusOverride = 0;
  ended = false;
  /** Undefined if tracing is disabled. */
  trace: RequestTrace | undefined;
  abortReason: unknown;
  onAbort: { aborted(): void } | undefined;
  /** Owned by the admission filter. */
  admitted: Admitted | undefined;
  /** Owned by OpenRequests. */
  place = -1;
  readonly #logger: Logger;
  readonly #sourceOf: SourceAddress;
  readonly #endings: ((exchange: Exchange) => void)[] = [];
  #log: Logger | undefined;
  #network: string | undefined;
  #query: URLSearchParams | undefined;
  #controller: AbortController | undefined;

  constructor(
    arrival: Arrival,
    { logger, sourceOf }: { readonly logger: Logger; readonly sourceOf: SourceAddress },
    receivedAt: number,
    startedAt: number,
  ) {
    this.request = arrival.request;
    this.response = arrival.response;
    this.secure = arrival.secure;
    this.upgrade = arrival.upgrade;
    const { remoteAddress } = arrival.request.socket;
    this.source = remoteAddress === undefined ? undefined : plainAddress(remoteAddress);
    this.receivedAt = receivedAt;
    this.startedAt = startedAt;
    this.#logger = logger;
    this.#sourceOf = sourceOf;
  }

  /** The path without the query. Decoded, except if the request was rejected before its path was parsed. */
  get path(): string {
    return this.info.path || pathIn(this.request.url ?? '');
  }

  /**
   * The query, the logger and the AbortSignal are created on first use, because simple requests need none of them.
   */
  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(searchIn(this.request.url ?? ''));
    return this.#query;
  }

  /** The caller before authentication: the network of the client, behind trusted proxies that of the forwarded address. */
  get network(): string {
    this.#network ??= networkCaller(this.#sourceOf(this.request));
    return this.#network;
  }

  get caller(): string {
    const isUser = this.authenticated && this.user.name !== ANONYMOUS.name;
    return isUser ? userCaller(this.user) : this.network;
  }

  get log(): Logger {
    this.#log ??= this.#logger.child({ requestID: this.auditID, ...this.traceFields });
    return this.#log;
  }

  /** The fields of log lines of a sampled request, with the name of OpenTelemetry. */
  get traceFields(): { readonly trace_id?: string } {
    return this.trace?.isSampled ? { trace_id: this.trace.id } : UNTRACED;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.abortReason !== undefined) this.#controller.abort(this.abortReason);
    }
    return this.#controller.signal;
  }

  get status(): number {
    return this.statusOverride === 0 ? this.response.statusCode : this.statusOverride;
  }

  abort(reason: unknown): void {
    if (this.abortReason !== undefined) return;
    this.abortReason = reason;
    this.onAbort?.aborted();
    this.#controller?.abort(reason);
  }

  /** Adds a listener that is called once, when the response is complete or the connection is closed. */
  onEnd(ending: (exchange: Exchange) => void): void {
    this.#endings.push(ending);
  }

  end(): void {
    if (this.ended) return;
    this.ended = true;
    for (const ending of this.#endings) {
      try {
        ending(this);
      } catch (error) {
        this.log.error({ err: error }, 'end-of-request listener failed');
      }
    }
  }
}

/**
 * A step of the filter chain. It throws an error to reject the request. After a synchronous filter, the next one runs at once. A
 * filter that returns a promise may complete the response, which ends the chain.
 */
export type Filter = (exchange: Exchange) => Promise<void> | void;
