import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { OAuthError } from '../../../apis/oauth/errors.ts';
import type { SourceAddress } from '../http/source-address.ts';
import type { BucketLimits } from '../throttle/bucket.ts';
import { BucketTable } from '../throttle/bucket-table.ts';
import { MAX_SOURCE_DELAY, type ThrottleLimits } from '../throttle/login-throttle.ts';
import { networkOf } from '../throttle/network.ts';
import type { ConfiguredClient } from './oauth-client.ts';

export interface ClientGuardOptions {
  readonly limits: BucketLimits;
  /** Pairs of client and source that are remembered. */
  readonly entries: number;
  readonly sourceOf: SourceAddress;
  /** A monotonic clock in ms: what is counted here nobody else is told. */
  readonly now?: () => number;
}

/**
 * RFC 6749, 2.3.1: secrets of clients must not be guessable. Failures are counted by client and source together, so that
 * a stranger delays nobody elsewhere, and by each replica alone, since a proper secret withstands many more tries. An
 * unknown client id counts like a known one.
 */
export class ClientGuard {
  readonly #options: ClientGuardOptions;
  readonly #table: BucketTable;
  readonly #now: () => number;

  constructor(options: ClientGuardOptions) {
    this.#options = options;
    this.#table = new BucketTable(options.entries);
    this.#now = options.now ?? (() => performance.now());
  }

  /** Before a secret is compared. Throws OAuthError 429 with the time to wait. */
  enter(id: string, request: IncomingMessage): void {
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

  /** A digest, for ids may be made up, and long: neither they nor what they came in are kept. */
  #key(id: string, request: IncomingMessage): string {
    return hash('sha256', `${networkOf(this.#options.sourceOf(request))} ${id}`, 'base64');
  }
}

/** None for the default client: its secret is public, so a guard would only let anybody delay its users. */
export function newClientGuard(
  clients: readonly Pick<ConfiguredClient, 'wellKnownSecret'>[],
  throttle: ThrottleLimits,
  sourceOf: SourceAddress,
): ClientGuard | undefined {
  if (clients.some(({ wellKnownSecret }) => wellKnownSecret !== undefined)) return undefined;
  const { sourceFailures: failures, delay, maxDelay, reset, entries } = throttle;
  const limits = { failures, delay, maxDelay: Math.min(maxDelay, MAX_SOURCE_DELAY), reset };
  return new ClientGuard({ limits, entries, sourceOf });
}
