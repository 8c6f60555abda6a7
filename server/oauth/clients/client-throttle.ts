import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { OAuthError } from '../../../apis/oauth/errors.ts';
import { networkOf, type SourceAddress } from '../http/source-address.ts';
import { type DelayLimits, FailureBuckets } from '../throttle/failure-buckets.ts';
import { MAX_SOURCE_DELAY, type ThrottleLimits } from '../throttle/login-throttle.ts';
import type { ClientThrottling, ConfiguredClient } from './oauth-client.ts';

export interface ClientThrottleOptions {
  readonly limits: DelayLimits;
  /** Maximum number of tracked pairs of client and source. */
  readonly entries: number;
  readonly sourceOf: SourceAddress;
  /** Monotonic ms. */
  readonly now?: () => number;
}

/**
 * Throttle of client authentication (RFC 6749, 2.3.1). Failures are counted per pair of client and source, so that an
 * attacker delays only its own address, and per replica, because a random secret withstands many more attempts. Unknown
 * client ids are treated like known ones.
 */
export class ClientThrottle implements ClientThrottling {
  readonly #options: ClientThrottleOptions;
  readonly #table: FailureBuckets;
  readonly #now: () => number;

  constructor(options: ClientThrottleOptions) {
    this.#options = options;
    this.#table = new FailureBuckets(options.entries);
    this.#now = options.now ?? (() => performance.now());
  }

  checkAllowed(id: string, request: IncomingMessage): void {
    const wait = this.#table.remaining(this.#key(id, request), this.#options.limits, this.#now());
    if (wait === 0) return;
    throw new OAuthError(429, 'invalid_client', 'too many attempts, try again later', {
      retryAfterSeconds: Math.ceil(wait / 1000),
    });
  }

  succeeded(id: string, request: IncomingMessage): void {
    const key = this.#key(id, request);
    this.#table.get(key)?.clear();
    this.#table.settle(key, this.#now());
  }

  failed(id: string, request: IncomingMessage): void {
    this.#table.fail(this.#key(id, request), this.#options.limits, this.#now());
  }

  /** A digest, because ids are client input of any length. */
  #key(id: string, request: IncomingMessage): string {
    return hash('sha256', `${networkOf(this.#options.sourceOf(request))} ${id}`, 'base64');
  }
}

/** Undefined with the default client: its secret is public, so a throttle would only allow denial of service. */
export function newClientThrottle(
  clients: readonly Pick<ConfiguredClient, 'wellKnownSecret'>[],
  throttle: ThrottleLimits,
  sourceOf: SourceAddress,
): ClientThrottle | undefined {
  if (clients.some(({ wellKnownSecret }) => wellKnownSecret !== undefined)) return undefined;
  const { sourceFailures: failures, delay, maxDelay, reset, entries } = throttle;
  const limits = { failures, delay, maxDelay: Math.min(maxDelay, MAX_SOURCE_DELAY), reset };
  return new ClientThrottle({ limits, entries, sourceOf });
}
