// Throttles password sign-ins: failed attempts delay further attempts for the same account or source address.
import { newServiceUnavailable, newTooManyRequests } from '../../../apis/meta/v1/errors.ts';
import { networkOf } from '../../admission/network.ts';
import { BoundedMap } from '../../memory/bounded-map.ts';
import { type DelayLimits, type FailureBucket, FailureBuckets, type Failures } from './failure-buckets.ts';

export interface ThrottleLimits extends DelayLimits {
  /** Failures from one source before its first delay. It has a separate limit, because many users may share an address. */
  readonly sourceFailures: number;
  /** Maximum number of tracked accounts and sources. */
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
  /** Bounds the memory. A flood of new names and addresses evicts no delay. */
  entries: 100_000,
} as const;

/** Failures of one account or source, as replicas share them. Zero failures end the delay. */
export interface ThrottleRecord extends Failures {
  readonly key: string;
  /** Keys of the known sources of an account. */
  readonly knownSources: readonly string[];
}

export interface LoginThrottleOptions {
  readonly limits: ThrottleLimits;
  /** Keyed digest, the same on all replicas, so that shared records reveal no name and no address. */
  readonly digest: (kind: 'account' | 'source', value: string) => string;
  /** Whether the account has an open session from this network, for instance through another replica. */
  readonly isSignedIn?: (account: string, network: string) => boolean;
  /** Called for each record to share with other replicas. */
  readonly changed?: (record: ThrottleRecord) => void;
  /** Limits of attempts that wait for pending ones: maximum waiting time in ms, and maximum number of waiting attempts. */
  readonly waitLimits?: { readonly timeoutMs: number; readonly length: number };
  /** Ms since the epoch. */
  readonly now?: () => number;
}

/** An attempt that may proceed. The caller reports its outcome exactly once. */
export interface Reservation {
  /** Whether the account has signed in from this source before. */
  readonly isKnown: boolean;
  succeeded(): void;
  failed(): void;
  /** The password was not checked. */
  cancelled(): void;
}

/** A bucket that counts a new attempt, with the state of the bucket before that attempt. */
interface TakenBucket {
  readonly key: string;
  readonly bucket: FailureBucket;
  /** Ms until an attempt may begin. */
  readonly wait: number;
  readonly full: boolean;
}

/** Maximum delay of a source, in ms: other users behind the same address must not be locked out for long. */
export const MAX_SOURCE_DELAY = 60_000;

/**
 * A delayed attempt is rejected before its password is hashed. Unknown user names are throttled like existing ones.
 */
export class LoginThrottle {
  readonly #options: LoginThrottleOptions;
  readonly #sourceLimits: DelayLimits;
  readonly #buckets: FailureBuckets;
  readonly #known: KnownSources;
  /** Waiting attempts. Those from known sources of the account have a separate queue, which other attempts cannot fill. */
  readonly #waiting = { known: new Set<() => void>(), unknown: new Set<() => void>() };
  readonly #now: () => number;

  constructor(options: LoginThrottleOptions) {
    const { limits } = options;
    this.#options = options;
    this.#sourceLimits = {
      ...limits,
      failures: limits.sourceFailures,
      maxDelay: Math.min(limits.maxDelay, MAX_SOURCE_DELAY),
    };
    this.#buckets = new FailureBuckets(limits.entries);
    this.#known = new KnownSources(limits.entries);
    this.#now = options.now ?? Date.now;
  }

  /** Number of tracked accounts and sources. Takes linear time. */
  get size(): number {
    return this.#buckets.count(this.#now());
  }

  /**
   * Reserves an attempt, after pending attempts of the same account or source if necessary. Throws TooManyRequests with the
   * time to wait while a delay is in effect, and ServiceUnavailable when too many attempts wait or the wait is too long.
   * `account`: the user name in its canonical spelling.
   */
  async reserve(account: string, source: string, signal?: AbortSignal): Promise<Reservation> {
    const network = networkOf(source);
    const accountKey = this.#options.digest('account', account);
    const sourceKey = this.#options.digest('source', network);
    const isKnown = (): boolean =>
      this.#known.has(accountKey, sourceKey, this.#now()) ||
      this.#options.isSignedIn?.(account, network) === true;
    const attempt = (): Reservation | undefined => {
      const known = isKnown();
      const taken = this.#begin(accountKey, sourceKey, known);
      const wait = Math.max(...taken.map(({ wait }) => wait));
      if (wait === 0 && taken.every(({ full }) => !full)) {
        return this.#reservation(accountKey, sourceKey, taken, known);
      }
      for (const { bucket } of taken) bucket.release();
      this.#settle(taken);
      if (wait > 0) throw newTooManyRequests('too many failed attempts', Math.ceil(wait / 1000));
      return undefined;
    };
    signal?.throwIfAborted();
    return attempt() ?? this.#wait(attempt, this.#waiting[isKnown() ? 'known' : 'unknown'], signal);
  }

  /** Merges a record that another replica wrote, or this one before a restart. */
  merge({ key, knownSources, ...failures }: ThrottleRecord): void {
    const now = this.#now();
    for (const source of knownSources) {
      if (!this.#known.has(key, source, now)) this.#known.add(key, source, now);
    }
    const bucket =
      failures.failures === 0 ? this.#buckets.get(key) : this.#buckets.take(key, this.#limitsOf(key), now);
    bucket?.merge(failures);
    this.#buckets.settle(key, now);
  }

  /** Ends all delays. Known sources stay known. */
  clear(): void {
    this.#buckets.clear();
  }

  /**
   * Counts the attempt in its buckets. A known pair of account and source has a separate bucket, so failures from other
   * addresses, and of other accounts at the same address, do not delay it.
   */
  #begin(accountKey: string, sourceKey: string, known: boolean): readonly TakenBucket[] {
    const now = this.#now();
    const keys = known ? [pairKey(accountKey, sourceKey)] : [accountKey, sourceKey];
    return keys.map((key) => {
      const bucket = this.#buckets.take(key, this.#limitsOf(key), now);
      const taken = { key, bucket, wait: bucket.remaining(now), full: bucket.full };
      // Begins here, so that the bucket of the next key cannot evict this one: buckets with pending attempts stay.
      bucket.begin();
      return taken;
    });
  }

  #limitsOf(key: string): DelayLimits {
    return key.startsWith('source') ? this.#sourceLimits : this.#options.limits;
  }

  #reservation(
    accountKey: string,
    sourceKey: string,
    taken: readonly TakenBucket[],
    isKnown: boolean,
  ): Reservation {
    let open = true;
    const end = (change: (taken: TakenBucket, now: number) => void): void => {
      if (!open) throw new Error('an attempt has ended twice');
      open = false;
      const now = this.#now();
      for (const each of taken) change(each, now);
      this.#settle(taken);
      for (const waiting of [this.#waiting.known, this.#waiting.unknown])
        for (const retry of waiting) retry();
    };
    return {
      isKnown,
      cancelled: () => end(({ bucket }) => bucket.release()),
      failed: () =>
        end(({ key, bucket }, now) => {
          bucket.fail(now);
          if (bucket.isDelaying(now)) this.#share(key, now);
        }),
      succeeded: () => {
        // The source is known before waiting attempts retry, because they may come from the same source.
        const isNew = this.#known.add(accountKey, sourceKey, this.#now());
        end(({ key, bucket }, now) => {
          bucket.release();
          if (key !== pairKey(accountKey, sourceKey)) return;
          const wasDelaying = bucket.isDelaying(now);
          bucket.clear();
          if (wasDelaying) this.#share(key, now);
        });
        const now = this.#now();
        // Other replicas need the known sources of a delayed account, so that its user can sign in there too.
        if (isNew && this.#buckets.get(accountKey)?.isDelaying(now)) this.#share(accountKey, now);
      },
    };
  }

  #share(key: string, now: number): void {
    const state = this.#buckets.get(key)?.state(now);
    if (state) this.#options.changed?.({ key, ...state, knownSources: this.#known.of(key) });
  }

  #settle(taken: readonly TakenBucket[]): void {
    for (const { key } of taken) this.#buckets.settle(key, this.#now());
  }

  /** Waits until other attempts end, in order of arrival. `attempt` returns undefined while it cannot begin. */
  #wait(
    attempt: () => Reservation | undefined,
    waiting: Set<() => void>,
    signal: AbortSignal | undefined,
  ): Promise<Reservation> {
    const { timeoutMs, length } = this.#options.waitLimits ?? { timeoutMs: 2000, length: 64 };
    const refusal = (): Error => newServiceUnavailable('too many sign-ins at a time', 2);
    if (waiting.size >= length) throw refusal();
    const { promise, resolve, reject } = Promise.withResolvers<Reservation>();
    const leave = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      waiting.delete(retry);
    };
    const retry = (): void => {
      try {
        const reservation = attempt();
        if (!reservation) return;
        leave();
        resolve(reservation);
      } catch (error) {
        leave();
        reject(error);
      }
    };
    const abort = (): void => {
      leave();
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      leave();
      reject(refusal());
    }, timeoutMs);
    signal?.addEventListener('abort', abort, { once: true });
    waiting.add(retry);
    return promise;
  }
}

const KNOWN_FOR_MS = 30 * 86_400_000;
const SOURCES_PER_ACCOUNT = 8;

/** Sources of successful sign-ins per account. Bounded: the least recently used account and source are evicted. */
class KnownSources {
  readonly #accounts: BoundedMap<string, BoundedMap<string, number>>;

  constructor(accounts: number) {
    this.#accounts = new BoundedMap(accounts);
  }

  has(account: string, source: string, now: number): boolean {
    const since = this.#accounts.get(account)?.get(source);
    return since !== undefined && now - since <= KNOWN_FOR_MS;
  }

  /** Returns true when the source was not known. */
  add(account: string, source: string, now: number): boolean {
    const isNew = !this.has(account, source, now);
    const sources = this.#accounts.get(account) ?? new BoundedMap<string, number>(SOURCES_PER_ACCOUNT);
    this.#accounts.set(account, sources.set(source, now));
    return isNew;
  }

  of(account: string): readonly string[] {
    return [...(this.#accounts.get(account)?.keys() ?? [])];
  }
}

function pairKey(accountKey: string, sourceKey: string): string {
  return `${accountKey}.${sourceKey}`;
}
