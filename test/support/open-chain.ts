// Filter chain that tests use for single handlers. Every caller is anonymous, and every request is allowed.
import type { Router } from 'express';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type App, type AppOptions, newApp } from '../../server/app.ts';
import { ANONYMOUS } from '../../server/authentication/user.ts';
import { RequestMetrics } from '../../server/filters/request-metrics.ts';
import { oauthErrors } from '../../server/oauth/oauth-error-writer.ts';
import { isLongRunning } from '../../server/request/long-running.ts';
import type { Handler } from '../../server/request/request-context.ts';
import { sourceAddress } from '../../server/request/source-address.ts';
import { byPath } from './handler-server.ts';
import { requestPools } from './request-pools.ts';
import { everyPath, onlyFeature } from './routed.ts';

interface OpenChainOptions extends Partial<Omit<AppOptions, 'limits' | 'routers' | 'resources'>> {
  /** The handler of all requests. */
  readonly handler?: Handler;
  /** The only router. */
  readonly router?: Router;
  /** Handlers by exact path. */
  readonly handlers?: ReadonlyMap<string, Handler>;
  /** No limits of concurrent requests by default. */
  readonly limits?: Partial<AppOptions['limits']>;
  readonly signal: AbortSignal;
}

/** The parts of the chain that most tests do not use. */
export const PLAIN_CHAIN = {
  allowedOrigins: [],
  sourceOf: sourceAddress([]),
  startPage: () => undefined,
  signInPaths: () => false,
  longRunning: isLongRunning,
  errorFamilies: [],
  streamChecks: { checkSession: undefined, checkCredential: () => undefined },
} as const satisfies Partial<AppOptions>;

/** The real filter chain without authentication and authorization: every caller is anonymous and allowed. */
export function openChain({
  handlers = new Map(),
  handler = byPath(handlers),
  router = everyPath(handler),
  limits,
  ...options
}: OpenChainOptions): App {
  return newApp({
    ...PLAIN_CHAIN,
    routers: onlyFeature(router),
    resources: handler,
    authenticator: { name: 'test', authenticate: () => ANONYMOUS },
    identityHeaders: () => [],
    authorizer: { authorize: () => ({ allowed: true, reason: '' }) },
    logger: pino({ level: 'silent' }),
    metrics: new RequestMetrics(new Registry()),
    knownResource: () => false,
    audit: { record: () => undefined },
    pools: requestPools(),
    limits: { maxBodyBytes: 1 << 20, timeoutMs: 10_000, ...limits },
    errorFamilies: [oauthErrors],
    ...options,
  });
}
