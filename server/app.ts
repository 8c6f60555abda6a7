// The server as an Express application: the filters in their order, a router for each feature, and one error handler.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Request, Response, Router } from 'express';
import type { Logger } from 'pino';
import { newPathNotFound, newServiceUnavailable } from '../apis/meta/v1/errors.ts';
import type { RequestPools } from './admission/admission.ts';
import type { Authenticator } from './authentication/authenticator.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import { accessLog } from './filters/access-log.ts';
import { type AuditSink, audit } from './filters/audit.ts';
import { authentication, type IdentityHeaders, type SignInPaths } from './filters/authentication.ts';
import { authorization } from './filters/authorization.ts';
import { cors } from './filters/cors.ts';
import { deadline } from './filters/deadline.ts';
import { type ErrorFamily, errorWriter } from './filters/error-writer.ts';
import type { Exchange, Filter } from './filters/exchange.ts';
import { asMiddleware, runDirectly } from './filters/filter-runner.ts';
import { OpenRequests } from './filters/open-requests.ts';
import { admission } from './filters/request-admission.ts';
import { bodyLimit, impersonation, requestID, requestInfo } from './filters/request-checks.ts';
import { countLongRunning, countRequests } from './filters/request-counting.ts';
import type { RequestObserver } from './filters/request-metrics.ts';
import { RequestTracing, type RequestTracingOptions } from './filters/request-tracing.ts';
import { type StartPage, startPage } from './filters/start-page.ts';
import { type StreamChecks, streamTermination } from './filters/stream-termination.ts';
import { upgradeArrival } from './filters/upgrade.ts';
import { type Middleware, newRouter } from './http/endpoint.ts';
import type { GatewayRoute } from './request/gateway-route.ts';
import type { LongRunning } from './request/long-running.ts';
import type { Handler } from './request/request-context.ts';
import type { KnownResource } from './request/resource-route.ts';
import type { SourceAddress } from './request/source-address.ts';

export function newApp(options: AppOptions): App {
  const { gateway, resources, logger, metrics, knownResource, limits, signal } = options;
  const { allowedOrigins, sourceOf, now = Date.now, monotonic = () => performance.now() } = options;
  const requests = new OpenRequests({ logger, sourceOf, now, monotonic });
  signal.addEventListener('abort', () => requests.abort(() => true, signal.reason), { once: true });
  const writeError = errorWriter(options.errorFamilies);
  /** Sends every error as a response. If sending fails, closes the connection. */
  const fail = (exchange: Exchange, error: unknown): void => {
    try {
      writeError(exchange, error);
    } catch (failure) {
      exchange.log.error({ err: failure }, 'error response failed');
      exchange.response.destroy();
    }
  };
  let draining = false;
  const rejectWhileDraining = ({ longRunning }: Exchange): void => {
    if (draining && longRunning) throw shuttingDown();
  };
  const forward: Filter = (exchange) => {
    if (!gateway || !exchange.proxied) return undefined;
    rejectWhileDraining(exchange);
    return gateway.serve(exchange);
  };
  const checked = { open: () => requests.all(), monotonic, fail };

  const tracing = options.tracing && new RequestTracing({ ...options.tracing, knownResource, monotonic });
  const named: Readonly<Record<string, Filter>> = {
    requestID,
    // These three record the end of the request. They come first, to record the rejections of later filters too.
    accessLog: accessLog(logger, monotonic),
    metrics: countRequests(metrics, knownResource, monotonic),
    audit: audit(options.audit, monotonic),
    // Before the filters that reject requests, so that web pages can read the rejections.
    ...(allowedOrigins.length > 0 ? { cors: cors(allowedOrigins) } : {}),
    requestInfo: requestInfo(options.longRunning, gateway),
    deadline: deadline(limits.timeoutMs, checked),
    bodyLimit: bodyLimit(limits.maxBodyBytes),
    startPage: startPage(options.startPage),
    authentication: authentication(
      options.authenticator,
      options.identityHeaders,
      options.signInPaths,
      gateway?.authenticator,
    ),
    ...(tracing ? { sampling: tracing.sampling } : {}),
    streams: streamTermination(options.streamChecks),
    admission: admission(options.pools, { ...checked, metrics }),
    gateway: forward,
    impersonation,
    authorization: authorization(options.authorizer),
    longRunning: countLongRunning(metrics, knownResource),
    draining: rejectWhileDraining,
  };
  const filters = Object.entries(named).map(([name, filter]) => tracing?.timed(name, filter) ?? filter);

  const features = featuresOf(options.routers);
  const app = newRouter();
  app.use(...filters.map(asMiddleware));
  app.use(ifResource(resources));
  app.use(features);

  /** Its callback is the error handler. */
  const route = (router: Router, exchange: Exchange): void => {
    const { request, response } = exchange;
    Object.assign(response, { locals: { context: exchange } });
    // They have no methods of Express, such as `json`, and no handler sees them as Express's types.
    router(request as Request, response as Response, (error?: unknown) => fail(exchange, error));
  };
  const direct = {
    filters,
    handle: (exchange: Exchange) =>
      exchange.info.isResourceRequest ? resources(exchange) : route(features, exchange),
    fail,
  };
  const run = (exchange: Exchange): void => {
    if (isDirect(exchange.request)) runDirectly(exchange, direct);
    else route(app, exchange);
  };
  const serve = tracing ? (exchange: Exchange): void => tracing.serve(exchange, () => run(exchange)) : run;

  return {
    get open() {
      return requests.size;
    },
    serve: (request, response, secure) =>
      serve(requests.enter({ request, response, secure, upgrade: undefined })),
    serveUpgrade: (request, socket, head, secure) => {
      const accepted = (): void => {
        exchange.statusOverride = 101;
      };
      const exchange = requests.enter(upgradeArrival(request, socket, head, secure, accepted));
      serve(exchange);
    },
    drain: () => {
      draining = true;
      return requests.abort(({ longRunning }) => longRunning, shuttingDown());
    },
  };
}

/** The routers one after the other, and 404 for the paths of none. */
function featuresOf(routers: FeatureRouters): Router {
  const { health, version, discovery, openAPI, description, explore, oauth } = routers;
  const features = newRouter();
  features.use(health, routers.metrics, version);
  features.use(discovery, openAPI, description);
  if (explore) features.use(explore);
  if (oauth) features.use(oauth);
  features.use(() => {
    throw newPathNotFound();
  });
  return features;
}

function ifResource(handle: Handler): Middleware<Exchange> {
  return (_request, { locals: { context } }, next) =>
    context.info.isResourceRequest ? handle(context) : next();
}

function shuttingDown(): Error {
  return newServiceUnavailable('the server is shutting down');
}

/**
 * Most requests are for resources. They pass the same filters without Express, whose routing costs more than the filters. Targets that
 * are not paths, which Express does not route, take this way to the filter that rejects them.
 */
function isDirect({ url = '' }: IncomingMessage): boolean {
  return url.startsWith('/api') || url.startsWith('/kapis') || !url.startsWith('/');
}

/** A router for each feature that is not a resource. */
export interface FeatureRouters {
  readonly health: Router;
  readonly metrics: Router;
  readonly version: Router;
  readonly discovery: Router;
  readonly openAPI: Router;
  readonly description: Router;
  /** Undefined if `explore.enabled` is false. */
  readonly explore: Router | undefined;
  /** Undefined if the authorization server is disabled. */
  readonly oauth: Router | undefined;
}

export interface AppOptions {
  readonly routers: FeatureRouters;
  /** The handler of all requests for a resource. */
  readonly resources: Handler;
  /** Forwards requests for the API of kube-apiserver. They skip the filters after admission. */
  readonly gateway?: GatewayRoute;
  readonly authenticator: Authenticator;
  readonly identityHeaders: IdentityHeaders;
  /** Path of the page for browsers that open `/`. */
  readonly startPage: StartPage;
  readonly signInPaths: SignInPaths;
  readonly streamChecks: StreamChecks;
  readonly authorizer: Authorizer;
  readonly logger: Logger;
  readonly metrics: RequestObserver;
  readonly knownResource: KnownResource;
  readonly audit: AuditSink;
  /** Allowed CORS origins. */
  readonly allowedOrigins: readonly string[];
  readonly pools: RequestPools;
  /** The client address behind trusted proxies. */
  readonly sourceOf: SourceAddress;
  readonly limits: { readonly maxBodyBytes: number; readonly timeoutMs: number };
  /** Selects the requests without a deadline. */
  readonly longRunning: LongRunning;
  readonly errorFamilies: readonly ErrorFamily[];
  /** By default, requests are not traced. */
  readonly tracing?: Pick<RequestTracingOptions, 'sampler' | 'spans'>;
  /** Aborts all requests. `drain` ends them gracefully. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Monotonic clock in ms. */
  readonly monotonic?: () => number;
}

export interface App {
  /** The number of requests without a complete response, including streams. */
  readonly open: number;
  /** Serves an ordinary request. Never throws. */
  serve(request: IncomingMessage, response: ServerResponse, secure: boolean): void;
  /** Serves a request from the server's `upgrade` event. Never throws. */
  serveUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, secure: boolean): void;
  /** Ends long-running requests, and rejects new ones. Other requests continue. Returns the number of ended requests. */
  drain(): number;
}
