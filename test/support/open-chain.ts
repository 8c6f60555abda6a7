// Filter chain that tests use for single handlers. Every caller is anonymous, and every request is allowed.
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { ANONYMOUS } from '../../server/authentication/user.ts';
import { type ChainOptions, RequestChain } from '../../server/filters/chain.ts';
import { RequestMetrics } from '../../server/filters/request-metrics.ts';
import { oauthErrors } from '../../server/oauth/oauth-error-writer.ts';
import type { Handler } from '../../server/request/request-context.ts';
import { byPath } from './handler-server.ts';
import { requestPools } from './request-pools.ts';

export interface OpenChainOptions extends Partial<Omit<ChainOptions, 'limits'>> {
  /** Handlers by exact path. */
  readonly handlers?: ReadonlyMap<string, Handler>;
  /** No limits of concurrent requests by default. */
  readonly limits?: Partial<ChainOptions['limits']>;
  readonly signal: AbortSignal;
}

/** The real filter chain without authentication and authorization: every caller is anonymous and allowed. */
export function openChain({ handlers = new Map(), limits, ...options }: OpenChainOptions): RequestChain {
  return new RequestChain({
    handler: byPath(handlers),
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
