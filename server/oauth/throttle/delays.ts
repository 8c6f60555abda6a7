// Delays after failed attempts of one key, such as an account or an address: each failure doubles the delay of the next attempt.
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { networkOf } from '../../admission/network.ts';
import type { SourceAddress } from '../../request/source-address.ts';

/** When delays begin, and how they grow. Times in ms. */
interface DelayLimits {
  /** Failures before the first delay. */
  readonly failures: number;
  /** The first delay; each further failure doubles it. */
  readonly delay: number;
  readonly maxDelay: number;
  /** Time without a failure after which all failures expire. */
  readonly reset: number;
}

export interface ThrottleLimits extends DelayLimits {
  /** Failures from one source before its first delay. */
  readonly sourceFailures: number;
  /** The first delay of an account, if it is longer than `delay`. */
  readonly accountDelay?: number;
  /** Maximum number of accounts and sources at a replica. */
  readonly entries: number;
}

/** The limits without an option. */
export const THROTTLE = {
  /** More than for an account, because many users can share an address. */
  sourceFailures: 50,
  /** Short for a typing error; each further failure doubles it. */
  delay: 1_000,
  /** About a hundred guesses a day for the password of one account. */
  maxDelay: 900_000,
  /** Far longer than the longest delay, so that an attacker gains nothing by waiting for the reset. */
  reset: 12 * 3_600_000,
  /** Bounds the memory. */
  entries: 100_000,
} as const;

/**
 * Delays for the second factor of an account: an attacker who has the password gets about 50 guesses in a month, each with a chance of
 * three in a million.
 */
export const FACTOR_DELAYS = { maxDelay: 24 * 3_600_000, reset: 30 * 86_400_000 } as const;

/**
 * First delay of a person of an identity provider, in ms. Directories lock accounts after some failures, Windows by default after 10 in
 * 10 minutes, and an attacker must not lock them through this server: 5 failures before the first delay allow 9 in 30 minutes.
 */
export const PERSON_DELAY = 120_000;

/** Maximum delay of a source, in ms: other users behind the same address must not be locked out for long. */
export const MAX_SOURCE_DELAY = 60_000;

/** Failures of a key, and the time of the last one in ms. */
export interface Failures {
  readonly failures: number;
  readonly lastAt: number;
}

export const NO_FAILURES: Failures = { failures: 0, lastAt: 0 };

export class Delays {
  readonly limits: DelayLimits;
  readonly #now: () => number;

  /** `now`: ms. */
  constructor(limits: DelayLimits, now: () => number) {
    this.limits = limits;
    this.#now = now;
  }

  /** The number of failures that have not expired. */
  count({ failures, lastAt }: Failures): number {
    return this.#now() - lastAt > this.limits.reset ? 0 : failures;
  }

  failed(before: Failures): Failures {
    return { failures: this.count(before) + 1, lastAt: this.#now() };
  }

  /** Ms until an attempt may begin; 0 when it may begin now. `pending`: attempts without an outcome, which count as failures. */
  wait(before: Failures, pending = 0): number {
    const { failures, delay, maxDelay } = this.limits;
    const excess = this.count(before) + pending - failures;
    if (excess < 0) return 0;
    const ms = Math.min(maxDelay, delay * 2 ** Math.min(excess, 40));
    const elapsed = pending > 0 ? 0 : this.#now() - before.lastAt;
    // Negative after the clock was set back: no attempt waits until it has caught up.
    return elapsed < 0 ? 0 : Math.max(0, ms - elapsed);
  }
}

/** The delays of a key, which begins with its kind. */
export function delaysByKey(limits: ThrottleLimits, now: () => number): (key: string) => Delays {
  const { sourceFailures: failures, delay, accountDelay = delay } = limits;
  const maxDelay = Math.min(limits.maxDelay, MAX_SOURCE_DELAY);
  const ofOthers = new Delays(limits, now);
  const byKind: Readonly<Record<string, Delays>> = {
    account: new Delays({ ...limits, delay: Math.max(delay, accountDelay) }, now),
    person: new Delays({ ...limits, delay: Math.max(delay, PERSON_DELAY) }, now),
    factor: new Delays({ ...limits, ...FACTOR_DELAYS }, now),
    source: new Delays({ ...limits, failures, maxDelay }, now),
  };
  return (key) => byKind[key.slice(0, key.indexOf('-'))] ?? ofOthers;
}

/**
 * Throttle of guesses at secrets that resist the attempts at all replicas together, such as client secrets. It counts failures per source
 * and at this replica only, so an attacker delays only its own address.
 */
export class SourceThrottle {
  readonly #delays: Delays;
  readonly #failures: LRUCache<string, Failures>;
  readonly #sourceOf: SourceAddress;

  /** `entries`: maximum number of sources; the one that failed longest ago is evicted. `now`: monotonic ms. */
  constructor(
    limits: DelayLimits & { readonly entries: number },
    sourceOf: SourceAddress,
    now: () => number,
  ) {
    this.#delays = new Delays(limits, now);
    this.#failures = new LRUCache({ max: limits.entries });
    this.#sourceOf = sourceOf;
  }

  /** Whole seconds until the next allowed attempt; 0 when it is allowed now. `about`: the subject of the guess, for instance a client id. */
  wait(request: IncomingMessage, about = ''): number {
    return Math.ceil(this.#delays.wait(this.#of(this.#key(request, about))) / 1000);
  }

  succeeded(request: IncomingMessage, about = ''): void {
    this.#failures.delete(this.#key(request, about));
  }

  failed(request: IncomingMessage, about = ''): void {
    const key = this.#key(request, about);
    this.#failures.set(key, this.#delays.failed(this.#of(key)));
  }

  #of(key: string): Failures {
    return this.#failures.peek(key) ?? NO_FAILURES;
  }

  /** A digest, because `about` is client input of any length. */
  #key(request: IncomingMessage, about: string): string {
    return hash('sha256', `${networkOf(this.#sourceOf(request))} ${about}`, 'base64');
  }
}
