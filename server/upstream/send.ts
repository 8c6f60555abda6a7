// The HTTP client: sends a request on a connection of a pool. A read whose reused connection was stale is repeated once, on a new
// connection. Nothing else is repeated, and no redirect is followed.
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Connection, ConnectionPool } from './connection-pool.ts';
import { startCall, TRACEPARENT, type TracedCall } from './trace-context.ts';
import { StalledError, UpstreamResponse } from './upstream-response.ts';

/** Ends when its work is aborted. */
interface AbortObserver {
  aborted(): void;
}

/** Work that can be aborted. */
interface Abortable {
  /** The reason of the abort; undefined before it. */
  readonly abortReason: unknown;
  /** An object, because V8 keeps all objects of a request until a major garbage collection if this is a closure of it. */
  onAbort: AbortObserver | undefined;
}

export interface UpstreamRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** Names and values in turn. The bytes are sent unchanged, as Latin-1. */
  readonly headers: string[];
  readonly body?: Buffer | string | Readable | undefined;
  /** True for a request without a stream as its body that changes nothing, so that it can be sent twice. */
  readonly isRead: boolean;
  /** The caller, or a class of requests that arrive in hundreds. They share the TLS handshakes fairly. */
  readonly crowd: string;
  readonly work: Abortable;
  /** Timeout in ms until the connection is open. */
  readonly connectMs?: number;
  /** Timeout in ms until the response. */
  readonly responseMs?: number;
  /** Returns the error to throw. `isSent`: the request was written to a connection, so that it may have been processed. */
  readonly errorOf?: (cause: Error, isSent: boolean) => Error;
}

/** Resolves with the response, of any status. Throws the reason of an abort, which also ends a response that is being read. */
export function send(pool: ConnectionPool, request: UpstreamRequest): Promise<UpstreamResponse> {
  return new Exchange(pool, request).response;
}

/** The work of an AbortSignal. Its listener is removed at the end of the request. */
export function abortableBy(signal: AbortSignal): Abortable {
  let observer: AbortObserver | undefined;
  const abort = (): void => observer?.aborted();
  return {
    get abortReason() {
      return signal.aborted ? signal.reason : undefined;
    },
    get onAbort() {
      return observer;
    },
    set onAbort(next) {
      observer = next;
      if (next) signal.addEventListener('abort', abort, { once: true });
      else signal.removeEventListener('abort', abort);
    },
  };
}

const ASCII = /^[\t -~]*$/;

class Exchange implements Dispatcher.DispatchHandler, AbortObserver {
  readonly response: Promise<UpstreamResponse>;
  readonly #resolve: (response: UpstreamResponse) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #pool: ConnectionPool;
  readonly #request: UpstreamRequest;
  readonly #call: TracedCall | undefined;
  #connection: Connection | undefined;
  #received: UpstreamResponse | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isSent = false;
  #isReused = false;
  #hasBytes = false;
  #isOver = false;

  constructor(pool: ConnectionPool, request: UpstreamRequest) {
    this.#pool = pool;
    this.#request = request;
    const { promise, resolve, reject } = Promise.withResolvers<UpstreamResponse>();
    this.response = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    const { work, responseMs } = request;
    if (work.abortReason !== undefined) {
      this.#isOver = true;
      reject(work.abortReason);
      return;
    }
    work.onAbort = this;
    this.#call = startCall(request.method, pool.origin);
    if (responseMs !== undefined)
      this.#timer = setTimeout(
        () => this.#abort(new StalledError(responseMs, 'response within')),
        responseMs,
      );
    this.#start(false);
  }

  #start(isFresh: boolean): void {
    const { method, path, headers, body, crowd, connectMs } = this.#request;
    this.#isSent = false;
    this.#connection = this.#pool.take(crowd, isFresh);
    // Keeps the connection after a DELETE with a body.
    const reset = body === undefined ? {} : { reset: false };
    const sent = this.#call ? [...headers, TRACEPARENT, this.#call.traceparent] : headers;
    this.#connection.client.dispatch({ method, path, headers: sent, body: body ?? null, ...reset }, this);
    if (connectMs === undefined || this.#isSent || this.#isOver) return;
    this.#timer = setTimeout(() => this.#abort(new Error(`no connection within ${connectMs} ms`)), connectMs);
  }

  aborted(): void {
    this.#abort(asError(this.#request.work.abortReason));
  }

  onRequestStart(): void {
    this.#isSent = true;
    if (this.#request.connectMs !== undefined) clearTimeout(this.#timer);
    if (!this.#connection) return;
    this.#isReused = this.#connection.isUsed;
    this.#connection.isUsed = true;
  }

  onResponseStarted(): void {
    this.#hasBytes = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
    statusMessage = '',
  ): void {
    // The connection would belong to another peer, so that the next request on it, with its token, would reach this peer.
    if (statusCode === 101)
      return this.#abort(new Error('the server switched the protocol of the connection'));
    if (statusCode < 200) return;
    clearTimeout(this.#timer);
    const abandon = (error: Error): void => this.#abort(error);
    // undici decodes the reason phrase as UTF-8, which loses other bytes.
    const reason = ASCII.test(statusMessage) ? statusMessage : '';
    this.#received = new UpstreamResponse(controller, statusCode, reason, headers, abandon);
    this.#resolve(this.#received);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received?.received(chunk);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#finish();
    if (this.#connection) this.#pool.release(this.#connection);
    this.#received?.completed();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#isOver) return;
    if (this.#isReused && !this.#hasBytes && this.#request.isRead) {
      this.#isReused = false;
      this.#connection?.close();
      this.#start(true);
      return;
    }
    this.#abort(error);
  }

  /** Ends the exchange with an error, and closes its connection. */
  #abort(error: Error): void {
    if (this.#isOver) return;
    const { work, errorOf } = this.#request;
    const { abortReason } = work;
    this.#finish();
    this.#connection?.close(error);
    if (this.#received) this.#received.failed(error);
    else this.#reject(abortReason ?? errorOf?.(error, this.#isSent) ?? error);
  }

  #finish(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#request.work.onAbort = undefined;
    this.#call?.ended(this.#received?.statusCode);
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('the request was aborted', { cause: reason });
}
