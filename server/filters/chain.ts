// Filter chain: passes each request through the filters to the handler. Errors of filters and handlers go to the
// error writer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { newServiceUnavailable } from '../../apis/meta/v1/errors.ts';
import type { RequestPools } from '../admission/admission.ts';
import type { Authenticator } from '../authentication/authenticator.ts';
import type { SessionCheck } from '../authentication/session-check.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { GatewayRoute } from '../request/gateway-route.ts';
import { isLongRunning, type LongRunning } from '../request/long-running.ts';
import type { Handler } from '../request/request-context.ts';
import type { KnownResource } from '../request/resource-route.ts';
import { type SourceAddress, sourceAddress } from '../request/source-address.ts';
import { accessLog } from './access-log.ts';
import { type AuditSink, audit } from './audit.ts';
import { authentication, type IdentityHeaders, type SignInPaths } from './authentication.ts';
import { authorization } from './authorization.ts';
import { cors } from './cors.ts';
import { deadline } from './deadline.ts';
import { type ErrorFamily, type ErrorWriter, errorWriter } from './error-writer.ts';
import { type Arrival, Exchange, type Filter, OpenExchanges } from './exchange.ts';
import { admission } from './request-admission.ts';
import { bodyLimit, impersonation, requestID, requestInfo } from './request-checks.ts';
import { countLongRunning, countRequests } from './request-counting.ts';
import type { RequestObserver } from './request-metrics.ts';
import { sessionTermination } from './session-termination.ts';
import { upgradeArrival } from './upgrade.ts';

export interface ChainOptions {
  readonly handler: Handler;
  readonly authenticator: Authenticator;
  readonly identityHeaders: IdentityHeaders;
  /** By default, no path is a path of sign-in. */
  readonly signInPaths?: SignInPaths;
  /** Checks the sessions of running streams. Without it, streams are not checked. */
  readonly checkSession?: SessionCheck;
  readonly authorizer: Authorizer;
  readonly logger: Logger;
  readonly metrics: RequestObserver;
  readonly knownResource: KnownResource;
  readonly audit: AuditSink;
  /** Allowed CORS origins; none by default. */
  readonly allowedOrigins?: readonly string[];
  readonly pools: RequestPools;
  /** The client address behind trusted proxies; by default, no proxy is trusted. */
  readonly sourceOf?: SourceAddress;
  readonly limits: { readonly maxBodyBytes: number; readonly timeoutMs: number };
  /** Selects the requests without a deadline; by default watches and streaming subresources. */
  readonly longRunning?: LongRunning;
  readonly errorFamilies?: readonly ErrorFamily[];
  /** Forwards requests for the API of kube-apiserver. It ends the chain for them. */
  readonly gateway?: GatewayRoute;
  /** Aborts all requests. `drain` ends them gracefully. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Monotonic clock in ms. */
  readonly monotonic?: () => number;
}

const ignore = (): void => undefined;

/** A shared instance, because every request ends with this error, and a new instance would capture a stack trace. */
const CLIENT_GONE = new DOMException('the client disconnected', 'AbortError');

export class RequestChain {
  readonly #filters: readonly Filter[];
  readonly #writeError: ErrorWriter;
  readonly #shared: { readonly logger: Logger; readonly sourceOf: SourceAddress };
  readonly #now: () => number;
  readonly #monotonic: () => number;
  readonly #open = new OpenExchanges<Exchange>();
  #draining = false;

  constructor(options: ChainOptions) {
    const { logger, metrics, knownResource, limits } = options;
    const monotonic = options.monotonic ?? (() => performance.now());
    const { allowedOrigins = [], gateway } = options;
    const fail = (exchange: Exchange, error: unknown): void => this.#fail(exchange, error);
    this.#shared = { logger, sourceOf: options.sourceOf ?? sourceAddress([]) };
    this.#now = options.now ?? Date.now;
    this.#monotonic = monotonic;
    this.#writeError = errorWriter(options.errorFamilies ?? []);
    this.#filters = [
      requestID,
      // These three filters record the end of the request. They come first, to record the rejections of later filters too.
      accessLog(logger, monotonic),
      countRequests(metrics, knownResource, monotonic),
      audit(options.audit, monotonic),
      // Before the filters that reject requests, so that web pages can read the rejections.
      ...(allowedOrigins.length > 0 ? [cors(allowedOrigins)] : []),
      requestInfo(options.longRunning ?? isLongRunning, gateway),
      deadline(limits.timeoutMs, { open: () => this.#open.all(), monotonic, fail }),
      bodyLimit(limits.maxBodyBytes),
      authentication(
        options.authenticator,
        options.identityHeaders,
        options.signInPaths,
        gateway?.authenticator,
      ),
      ...(options.checkSession ? [sessionTermination(options.checkSession)] : []),
      admission(options.pools, { metrics, open: () => this.#open.all(), monotonic, fail }),
      ...(gateway ? [this.#forwarding(gateway)] : []),
      impersonation,
      authorization(options.authorizer),
      countLongRunning(metrics, knownResource),
      (exchange) => this.#rejectWhileDraining(exchange),
      options.handler,
    ];
    options.signal.addEventListener('abort', () => this.#abort(() => true, options.signal.reason), {
      once: true,
    });
  }

  /** Serves an ordinary request. Never throws. */
  serve(request: IncomingMessage, response: ServerResponse, secure: boolean): void {
    this.#run(this.#enter({ request, response, secure, upgrade: undefined }), 0);
  }

  /** Serves a request from the server's `upgrade` event. Never throws. */
  serveUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, secure: boolean): void {
    const arrival = upgradeArrival(request, socket, head, secure, () => {
      exchange.statusOverride = 101;
    });
    const exchange = this.#enter(arrival);
    this.#run(exchange, 0);
  }

  /**
   * Ends long-running requests, and rejects new ones. Other requests continue. Returns the number of ended requests.
   */
  drain(): number {
    this.#draining = true;
    return this.#abort(
      (exchange) => exchange.longRunning,
      newServiceUnavailable('the server is shutting down'),
    );
  }

  /** The number of requests without a complete response, including streams. */
  get open(): number {
    return this.#open.size;
  }

  #enter(arrival: Arrival): Exchange {
    const exchange = new Exchange(arrival, this.#shared, this.#now(), this.#monotonic());
    this.#open.add(exchange);
    arrival.response.on('close', () => this.#end(exchange));
    // A handler may write after the 504 of the deadline. This error must not end the process.
    arrival.response.on('error', ignore);
    return exchange;
  }

  /** Runs the filters from index `start` on. Synchronous filters need no promise. */
  #run(exchange: Exchange, start: number): void {
    const filters = this.#filters;
    try {
      for (let i = start; i < filters.length; i++) {
        const pending = filters[i]?.(exchange);
        if (pending === undefined) continue;
        pending.then(
          () => {
            // While the filter ran, the client may have disconnected, or the deadline may have passed.
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

  /** The panic guard: sends every error as a response. If sending fails, it closes the connection. */
  #fail(exchange: Exchange, error: unknown): void {
    try {
      this.#writeError(exchange, error);
    } catch (failure) {
      exchange.log.error({ err: failure }, 'error response failed');
      exchange.response.destroy();
    }
  }

  #end(exchange: Exchange): void {
    this.#open.delete(exchange);
    // 499: the client disconnected before the response.
    if (!exchange.response.headersSent && exchange.statusOverride === 0) exchange.statusOverride = 499;
    exchange.abort(exchange.error ?? CLIENT_GONE);
    exchange.end();
  }

  #abort(selects: (exchange: Exchange) => boolean, reason: unknown): number {
    const selected = this.#open.all().filter(selects);
    for (const exchange of selected) exchange.abort(reason);
    return selected.length;
  }

  #forwarding({ serve }: GatewayRoute): Filter {
    return (exchange) => {
      if (!exchange.proxied) return undefined;
      this.#rejectWhileDraining(exchange);
      return serve(exchange);
    };
  }

  #rejectWhileDraining(exchange: Exchange): void {
    if (this.#draining && exchange.longRunning) throw newServiceUnavailable('the server is shutting down');
  }
}
