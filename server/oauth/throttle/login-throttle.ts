// Slows down who guesses passwords. It counts failed attempts by account and by source, before a password is hashed,
// and knows nothing of passwords or users: names that do not exist count like others. What has crossed the threshold
// is passed on to shared-failures, so that restarts and other replicas make no difference.
import { newServiceUnavailable, newTooManyRequests } from '../../../apis/meta/v1/errors.ts';
import type { Bucket, BucketLimits, Failures } from './bucket.ts';
import { BucketTable } from './bucket-table.ts';
import { KnownSources } from './known-sources.ts';
import { networkOf } from './network.ts';

export interface ThrottleLimits extends BucketLimits {
  /** Failures from one source before it is delayed: many people may sit behind it. */
  readonly sourceFailures: number;
  /** Accounts and sources that are remembered. */
  readonly entries: number;
}

/** What others need to know of one account or source whose attempts are delayed; without failures it is over. */
export interface ThrottleRecord extends Failures {
  readonly key: string;
  /** Of an account: keys of the sources from which it may still sign in. */
  readonly knownSources: readonly string[];
}

export interface LoginThrottleOptions {
  readonly limits: ThrottleLimits;
  /** A key that reveals nothing about the value without our keys; the same on all replicas. */
  readonly digest: (kind: 'account' | 'source', value: string) => string;
  /** Whether the account is signed in from there now, for instance through another replica. */
  readonly isSignedIn?: (account: string, network: string) => boolean;
  readonly changed?: (record: ThrottleRecord) => void;
  /** How long an attempt may wait for others of the same account, in ms, and how many may. */
  readonly patience?: { readonly timeoutMs: number; readonly length: number };
  /** Ms since the epoch. */
  readonly now?: () => number;
}

/** An attempt that may proceed. Its outcome has to be reported exactly once. */
export interface Reservation {
  /** Whether the account has signed in from this source before. */
  readonly isKnown: boolean;
  succeeded(): void;
  failed(): void;
  /** It was not finished: nothing is known about the password. */
  cancelled(): void;
}

/** Where an attempt counts: one budget, as it was just before. */
interface TakenBucket {
  readonly key: string;
  readonly bucket: Bucket;
  /** Ms until an attempt may begin, and whether there was room for it. */
  readonly wait: number;
  readonly full: boolean;
}

/** The longest delay of a source, in ms: others behind the same address must not be shut out for long. */
export const MAX_SOURCE_DELAY = 60_000;
const KNOWN_FOR = 30 * 86_400_000;
const KNOWN_SOURCES = 8;

export class LoginThrottle {
  readonly #options: LoginThrottleOptions;
  readonly #bySource: BucketLimits;
  readonly #table: BucketTable;
  readonly #known: KnownSources;
  /** Known pairs of account and source apart from all others, so that strangers cannot fill their queue. */
  readonly #waiting = { known: new Set<() => void>(), unknown: new Set<() => void>() };
  readonly #now: () => number;

  constructor(options: LoginThrottleOptions) {
    const { limits } = options;
    this.#options = options;
    this.#bySource = {
      ...limits,
      failures: limits.sourceFailures,
      maxDelay: Math.min(limits.maxDelay, MAX_SOURCE_DELAY),
    };
    this.#table = new BucketTable(limits.entries);
    this.#known = new KnownSources({
      accounts: limits.entries,
      sourcesOfOne: KNOWN_SOURCES,
      lifetime: KNOWN_FOR,
    });
    this.#now = options.now ?? Date.now;
  }

  /** How many accounts and sources are remembered now. Looks at each of them. */
  get size(): number {
    return this.#table.count(this.#now());
  }

  /**
   * Throws TooManyRequests with the time to wait, ServiceUnavailable when too many attempts of the same account are
   * under way. `account` is the name in the one spelling that users have.
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
      const buckets = this.#begin(accountKey, sourceKey, known);
      const wait = Math.max(...buckets.map(({ wait }) => wait));
      if (wait === 0 && buckets.every(({ full }) => !full)) {
        return this.#reservation(accountKey, sourceKey, buckets, known);
      }
      for (const { bucket } of buckets) bucket.release();
      this.#settle(buckets);
      if (wait > 0) throw newTooManyRequests('too many failed attempts', Math.ceil(wait / 1000));
      return undefined;
    };
    signal?.throwIfAborted();
    return attempt() ?? this.#turn(attempt, this.#waiting[isKnown() ? 'known' : 'unknown'], signal);
  }

  /** Takes over what another replica saw, or what was seen before a restart; also that it is over. */
  merge({ key, knownSources, ...failures }: ThrottleRecord): void {
    const now = this.#now();
    for (const source of knownSources) {
      if (!this.#known.has(key, source, now)) this.#known.add(key, source, now);
    }
    const limits = this.#limitsOf(key);
    const bucket = failures.failures === 0 ? this.#table.get(key) : this.#table.take(key, limits, now);
    bucket?.merge(failures);
    this.#table.settle(key, now);
  }

  /** Ends all delays. Known sources of accounts stay known. */
  forgive(): void {
    this.#table.clear();
  }

  /**
   * An account that is used from a known source has a budget of its own there: neither strangers' attempts nor those of
   * neighbours behind the same address count against it.
   */
  #begin(accountKey: string, sourceKey: string, known: boolean): readonly TakenBucket[] {
    const now = this.#now();
    const keys = known ? [`${accountKey}.${sourceKey}`] : [accountKey, sourceKey];
    return keys.map((key) => {
      const bucket = this.#table.take(key, this.#limitsOf(key), now);
      const taken = { key, bucket, wait: bucket.remaining(now), full: bucket.full };
      // At once, since the table evicts only buckets without attempts under way.
      bucket.begin();
      return taken;
    });
  }

  #limitsOf(key: string): BucketLimits {
    return key.startsWith('source') ? this.#bySource : this.#options.limits;
  }

  #reservation(
    accountKey: string,
    sourceKey: string,
    buckets: readonly TakenBucket[],
    isKnown: boolean,
  ): Reservation {
    let open = true;
    const end = (change: (taken: TakenBucket, now: number) => void): void => {
      if (!open) throw new Error('an attempt has ended twice');
      open = false;
      const now = this.#now();
      for (const taken of buckets) change(taken, now);
      this.#settle(buckets);
      for (const waiting of [this.#waiting.known, this.#waiting.unknown]) for (const look of waiting) look();
    };
    return {
      isKnown,
      cancelled: () => end(({ bucket }) => bucket.release()),
      failed: () =>
        end((taken, now) => {
          taken.bucket.fail(now);
          if (taken.bucket.isDelaying(now)) this.#tell(taken.key, now);
        }),
      succeeded: () => {
        // Before those look who wait: they may come from the same place.
        const isNew = this.#known.add(accountKey, sourceKey, this.#now());
        end(({ key, bucket }, now) => {
          bucket.release();
          if (key !== `${accountKey}.${sourceKey}`) return;
          const wasDelaying = bucket.isDelaying(now);
          bucket.clear();
          if (wasDelaying) this.#tell(key, now);
        });
        const now = this.#now();
        // While a stranger keeps the account delayed, others have to know from where its owner comes.
        if (isNew && this.#table.get(accountKey)?.isDelaying(now)) this.#tell(accountKey, now);
      },
    };
  }

  #tell(key: string, now: number): void {
    const state = this.#table.get(key)?.state(now);
    if (state) this.#options.changed?.({ key, ...state, knownSources: this.#known.of(key) });
  }

  #settle(buckets: readonly TakenBucket[]): void {
    for (const { key } of buckets) this.#table.settle(key, this.#now());
  }

  /** Waits for others to end. `attempt`: undefined while it cannot begin. Whoever waits keeps his place meanwhile. */
  #turn(
    attempt: () => Reservation | undefined,
    waiting: Set<() => void>,
    signal: AbortSignal | undefined,
  ): Promise<Reservation> {
    const { timeoutMs, length } = this.#options.patience ?? { timeoutMs: 2000, length: 64 };
    const refusal = (): Error => newServiceUnavailable('too many sign-ins at a time', 2);
    if (waiting.size >= length) throw refusal();
    const { promise, resolve, reject } = Promise.withResolvers<Reservation>();
    const leave = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', gone);
      waiting.delete(look);
    };
    const look = (): void => {
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
    const gone = (): void => {
      leave();
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      leave();
      reject(refusal());
    }, timeoutMs);
    signal?.addEventListener('abort', gone, { once: true });
    waiting.add(look);
    return promise;
  }
}
