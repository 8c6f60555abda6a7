// The request chain: runs one request through the filters in their order and ends it in the handler, or in the
// error writer. It owns the order, the panic guard, and which requests are open. What a filter decides is in its own
// file; sockets belong to the listener in front, routing to the handler behind.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { newServiceUnavailable } from '../../apis/meta/v1/errors.ts';
import type { Authenticator } from '../authentication/authenticator.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import { isLongRunning, type LongRunning } from '../request/long-running.ts';
import type { Handler } from '../request/request-context.ts';
import { accessLog } from './access-log.ts';
import { type AuditSink, audit } from './audit.ts';
import { authentication, type IdentityHeaders, type SignInPaths } from './authentication.ts';
import { authorization } from './authorization.ts';
import { bodyLimit } from './body-limit.ts';
import { type ConcurrencyLimits, concurrency } from './concurrency.ts';
import { cors } from './cors.ts';
import { deadline } from './deadline.ts';
import { type ErrorFamily, type ErrorWriter, errorWriter } from './error-writer.ts';
import { type Arrival, Exchange, type Filter } from './exchange.ts';
import { impersonation } from './impersonation.ts';
import { OpenExchanges } from './open-exchanges.ts';
import { countLongRunning, countRequests, type KnownResource } from './request-counting.ts';
import { requestID } from './request-id.ts';
import type { RequestObserver } from './request-metrics.ts';
import { requestInfo } from './request-parsing.ts';
import { type SessionCheck, signOut } from './sign-out.ts';
import { upgradeArrival } from './upgrade.ts';

export interface ChainOptions {
  readonly handler: Handler;
  readonly authenticator: Authenticator;
  readonly identityHeaders: IdentityHeaders;
  /** None when none are given. */
  readonly signInPaths?: SignInPaths;
  /** Whether the caller of a stream would be let in again; not asked when none is given. */
  readonly checkSession?: SessionCheck;
  readonly authorizer: Authorizer;
  readonly logger: Logger;
  readonly metrics: RequestObserver;
  readonly knownResource: KnownResource;
  readonly audit: AuditSink;
  /** Web pages of these origins may talk to the server; none when none are given. */
  readonly allowedOrigins?: readonly string[];
  readonly limits: ConcurrencyLimits & { readonly maxBodyBytes: number; readonly timeoutMs: number };
  /** Which requests may outlive the deadline; watches, upgrades and streaming subresources when none is given. */
  readonly longRunning?: LongRunning;
  readonly errorFamilies?: readonly ErrorFamily[];
  /** Ends everything at once; see `drain` for the gentle way. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Milliseconds that never go back. */
  readonly monotonic?: () => number;
}

const ignore = (): void => undefined;

/** One for all: every request ends with it, and making one takes a stack trace. */
const CLIENT_GONE = new DOMException('the client has gone', 'AbortError');

export class RequestChain {
  readonly #filters: readonly Filter[];
  readonly #writeError: ErrorWriter;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #monotonic: () => number;
  readonly #open = new OpenExchanges<Exchange>();
  #draining = false;

  constructor(options: ChainOptions) {
    const { logger, metrics, knownResource, limits } = options;
    const monotonic = options.monotonic ?? (() => performance.now());
    const { allowedOrigins = [] } = options;
    const fail = (exchange: Exchange, error: unknown): void => this.#fail(exchange, error);
    this.#logger = logger;
    this.#now = options.now ?? Date.now;
    this.#monotonic = monotonic;
    this.#writeError = errorWriter(options.errorFamilies ?? []);
    this.#filters = [
      requestID,
      // These three write when the request has ended. They come first so that nothing goes by unseen, a request
      // that is refused by the next filter included.
      accessLog(logger, monotonic),
      countRequests(metrics, knownResource, monotonic),
      audit(options.audit, monotonic),
      // Before anything is refused, so that a page can read the refusal.
      ...(allowedOrigins.length > 0 ? [cors(allowedOrigins)] : []),
      requestInfo(options.longRunning ?? isLongRunning),
      deadline(limits.timeoutMs, fail),
      bodyLimit(limits.maxBodyBytes),
      authentication(options.authenticator, options.identityHeaders, options.signInPaths),
      ...(options.checkSession ? [signOut(options.checkSession)] : []),
      impersonation,
      authorization(options.authorizer),
      concurrency(limits, { metrics, monotonic, fail }),
      countLongRunning(metrics, knownResource),
      (exchange) => this.#refuseWhileDraining(exchange),
      options.handler,
    ];
    options.signal.addEventListener('abort', () => this.#abort(() => true, options.signal.reason), {
      once: true,
    });
  }

  /** An ordinary request. Never throws. */
  serve(request: IncomingMessage, response: ServerResponse, secure: boolean): void {
    this.#run(this.#enter({ request, response, secure, upgrade: undefined }), 0);
  }

  /** A request for another protocol, as the server's event `upgrade` hands it over. Never throws. */
  serveUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, secure: boolean): void {
    const arrival = upgradeArrival(request, socket, head, secure, () => {
      exchange.statusOverride = 101;
    });
    const exchange = this.#enter(arrival);
    this.#run(exchange, 0);
  }

  /**
   * Tells watches and other streams to end, and takes no new ones; requests that end by themselves go on. Gives how many
   * were told.
   */
  drain(): number {
    this.#draining = true;
    return this.#abort(
      (exchange) => exchange.longRunning,
      newServiceUnavailable('the server is shutting down'),
    );
  }

  /** Requests that have no answer yet, streams included. */
  get open(): number {
    return this.#open.size;
  }

  #enter(arrival: Arrival): Exchange {
    const exchange = new Exchange(arrival, this.#logger, this.#now(), this.#monotonic());
    this.#open.add(exchange);
    arrival.response.once('close', () => this.#end(exchange));
    // A handler that writes after the deadline has answered for it must not end the process.
    arrival.response.on('error', ignore);
    return exchange;
  }

  /** Runs the filters from `start` on. One that has to wait is waited for; the others cost no promise. */
  #run(exchange: Exchange, start: number): void {
    const filters = this.#filters;
    try {
      for (let i = start; i < filters.length; i++) {
        const pending = filters[i]?.(exchange);
        if (pending === undefined) continue;
        pending.then(
          () => {
            // The client may have gone, or the deadline have answered, while the filter waited.
            if (!exchange.ended && !exchange.response.writableEnded) this.#run(exchange, i + 1);
          },
          (error: unknown) => this.#fail(exchange, error),
        );
        return;
      }
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  /** The panic guard: whatever was thrown becomes an answer, and if even that fails the connection ends. */
  #fail(exchange: Exchange, error: unknown): void {
    try {
      this.#writeError(exchange, error);
    } catch (failure) {
      exchange.log.error({ err: failure }, 'the error could not be written');
      exchange.response.destroy();
    }
  }

  #end(exchange: Exchange): void {
    this.#open.delete(exchange);
    // 499: nobody was there any more to hear the answer.
    if (!exchange.response.headersSent && exchange.statusOverride === 0) exchange.statusOverride = 499;
    exchange.abort(exchange.error ?? CLIENT_GONE);
    exchange.end();
  }

  #abort(which: (exchange: Exchange) => boolean, reason: unknown): number {
    const told = this.#open.all().filter(which);
    for (const exchange of told) exchange.abort(reason);
    return told.length;
  }

  #refuseWhileDraining(exchange: Exchange): void {
    if (this.#draining && exchange.longRunning) throw newServiceUnavailable('the server is shutting down');
  }
}
