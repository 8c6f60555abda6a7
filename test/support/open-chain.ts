// Filter chain that tests use for single handlers. Every caller is anonymous, and every request is allowed.
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { newPathNotFound } from '../../apis/meta/v1/errors.ts';
import { ANONYMOUS } from '../../server/authentication/user.ts';
import { type ChainOptions, RequestChain } from '../../server/filters/chain.ts';
import { RequestMetrics } from '../../server/filters/request-metrics.ts';
import { oauthErrors } from '../../server/oauth/error-writer.ts';
import type { Handler } from '../../server/request/request-context.ts';

export interface OpenChainOptions extends Partial<Pick<ChainOptions, 'logger' | 'errorFamilies'>> {
  /** Handlers by exact path. */
  readonly handlers: ReadonlyMap<string, Handler>;
  /** Limit of concurrent mutating requests; 0 (the default) is unlimited. */
  readonly maxMutating?: number;
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

/** The real filter chain without authentication and authorization: every caller is anonymous and allowed. */
export function openChain({
  handlers,
  maxMutating = 0,
  timeoutMs = 10_000,
  logger = pino({ level: 'silent' }),
  errorFamilies = [oauthErrors],
  signal,
}: OpenChainOptions): RequestChain {
  return new RequestChain({
    handler: (context) => {
      const handler = handlers.get(context.info.path);
      if (!handler) throw newPathNotFound();
      return handler(context);
    },
    authenticator: { name: 'test', authenticate: () => ANONYMOUS },
    identityHeaders: () => [],
    authorizer: { authorize: () => ({ allowed: true, reason: '' }) },
    logger,
    metrics: new RequestMetrics(new Registry()),
    knownResource: () => false,
    audit: { record: () => undefined },
    limits: { maxReadOnly: 0, maxMutating, maxLongRunning: 0, maxBodyBytes: 1 << 20, timeoutMs },
    errorFamilies,
    signal,
  });
}
