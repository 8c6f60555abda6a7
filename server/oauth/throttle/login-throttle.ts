// Throttles passwords and second factors: failed attempts delay further attempts for the same account or address. Unknown user names
// are throttled like existing ones.
import { LRUCache } from 'lru-cache';
import { isTooManyRequests, newTooManyRequests, retryAfterSeconds } from '../../../apis/meta/v1/errors.ts';
import { tooManyAttempts } from '../../../apis/oauth/oauth-error.ts';
import { networkOf } from '../../admission/network.ts';
import { type DelayLimits, type Failures, FailureTable } from './failure-table.ts';

export interface ThrottleLimits extends DelayLimits {
  /** Failures from one source before its first delay. It has a separate limit, because many users may share an address. */
  readonly sourceFailures: number;
  /** Maximum number of tracked accounts, and of tracked sources. */
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
  /** Bounds the memory. A flood of new names and addresses ends no delay. */
  entries: 100_000,
} as const;

/**
 * Delays for the second factor of an account: an attacker who has the password gets about 50 guesses in a month, each with a chance of
 * three in a million.
 */
export const FACTOR_DELAYS = { maxDelay: 24 * 3_600_000, reset: 30 * 86_400_000 } as const;

/** What the attempts of an account are for. The password does not reset the failures of the second factor. */
export type Attempted = 'account' | 'person' | 'factor';

/** Failures of one account or source, as replicas share them. Zero failures end the delay. */
export interface ThrottleRecord extends Failures {
  readonly key: string;
  /** Keys of the known sources of an account. */
  readonly knownSources: readonly string[];
}

export interface LoginThrottleOptions {
  readonly limits: ThrottleLimits;
  /** Keyed digest, the same on all replicas, so that shared records reveal no name and no address. */
  readonly digest: (kind: Attempted | 'source', value: string) => string;
  /** Whether the account has an open session from this network, for instance through another replica. */
  readonly isSignedIn?: (account: string, network: string) => boolean;
  /** Called for each record to share with other replicas. */
  readonly changed?: (record: ThrottleRecord) => void;
  /** Ms since the epoch. */
  readonly now?: () => number;
}

/** An attempt without a delay. */
export interface CountedAttempt {
  /** Whether the account has signed in from this source before. */
  readonly isKnown: boolean;
  /**
   * Called before the password is verified: the attempt counts as a failure until it ends. Throws TooManyRequests if other attempts
   * have failed meanwhile, or would cause a delay if they failed.
   */
  begin(): void;
  succeeded(): void;
  failed(): void;
  /** The password was not verified. */
  cancelled(): void;
}

interface Counter {
  readonly table: FailureTable;
  readonly key: string;
}

/**
 * First delay of a person of an identity provider, in ms. Directories lock accounts after some failures, Windows by default after 10 in
 * 10 minutes, and an attacker must not lock them through this server: 5 failures before the first delay allow 9 in 30 minutes.
 */
const PERSON_DELAY = 120_000;

/** Maximum delay of a source, in ms: other users behind the same address must not be locked out for long. */
export const MAX_SOURCE_DELAY = 60_000;

/** The key of a record begins with its kind. */
const KINDS = ['source', 'person', 'factor'] as const;

/**
 * For clients and pages: OAuthError 429 for the error of an attempt during a delay, after a call of `throttled`; every other error as it
 * is.
 */
export function throttledError(error: unknown, throttled: () => void): unknown {
  if (!isTooManyRequests(error)) return error;
  throttled();
  return tooManyAttempts(retryAfterSeconds(error) ?? 1, error);
}

export class LoginThrottle {
  readonly #options: LoginThrottleOptions;
  /** Those of accounts, people and factors contain known pairs with a source, too. */
  readonly #tables: Readonly<Record<Attempted | 'source', FailureTable>>;
  readonly #known: KnownSources;
  readonly #now: () => number;

  constructor(options: LoginThrottleOptions) {
    const { sourceFailures: failures, entries, ...limits } = options.limits;
    const maxDelay = Math.min(limits.maxDelay, MAX_SOURCE_DELAY);
    this.#options = options;
    this.#tables = {
      account: new FailureTable(limits, entries),
      person: new FailureTable({ ...limits, delay: Math.max(limits.delay, PERSON_DELAY) }, entries),
      factor: new FailureTable({ ...limits, ...FACTOR_DELAYS }, entries),
      source: new FailureTable({ ...limits, failures, maxDelay }, entries),
    };
    this.#known = new KnownSources(entries);
    this.#now = options.now ?? Date.now;
  }

  /** Number of tracked accounts and sources. */
  get size(): number {
    return Object.values(this.#tables).reduce((sum, table) => sum + table.count(this.#now()), 0);
  }

  /**
   * Throws TooManyRequests with the time to wait while a delay is in effect. The caller reports the outcome of the attempt.
   * `account`: the user name in its canonical spelling, or the key of a person of an identity provider.
   */
  attempt(account: string, source: string, kind: Attempted = 'account'): CountedAttempt {
    const { digest, isSignedIn } = this.#options;
    const accounts = this.#tables[kind];
    const sources = this.#tables.source;
    const network = networkOf(source);
    const accountKey = digest(kind, account);
    const sourceKey = digest('source', network);
    const pairKey = `${accountKey}.${sourceKey}`;
    const isKnown = (): boolean =>
      this.#known.has(accountKey, sourceKey, this.#now()) || isSignedIn?.(account, network) === true;
    // A known pair is counted separately, so failures from other addresses, and of other accounts at the same address, do not delay it.
    const allowed = (): readonly Counter[] =>
      this.#allowed(
        isKnown()
          ? [{ table: accounts, key: pairKey }]
          : [
              { table: accounts, key: accountKey },
              { table: sources, key: sourceKey },
            ],
      );
    allowed();
    let pending: readonly Counter[] = [];
    const end = (): readonly Counter[] => {
      const ended = pending;
      pending = [];
      for (const { table, key } of ended) table.end(key);
      return ended;
    };
    return {
      isKnown: isKnown(),
      begin: () => {
        if (pending.length > 0) return;
        pending = allowed();
        for (const { table, key } of pending) table.begin(key);
      },
      cancelled: () => void end(),
      failed: () => {
        for (const { table, key } of end()) {
          table.fail(key, this.#now());
          if (table.isDelaying(key, this.#now())) this.#share(key, table.of(key, this.#now()));
        }
      },
      succeeded: () => {
        end();
        this.#succeeded(accounts, accountKey, sourceKey, pairKey);
      },
    };
  }

  /** Merges a record that another replica wrote, or this one before a restart. */
  merge({ key, knownSources, ...failures }: ThrottleRecord): void {
    const now = this.#now();
    for (const source of knownSources) {
      if (!this.#known.has(key, source, now)) this.#known.add(key, source, now);
    }
    const kind = KINDS.find((each) => key.startsWith(each)) ?? 'account';
    this.#tables[kind].merge(key, failures, now);
  }

  /** Ends the delays of the second factor of an account, here and at other replicas. */
  forgive(account: string): void {
    const key = this.#options.digest('factor', account);
    // Only the replica of a sign-in knows its source, but all have the failures of a delayed one.
    for (const each of [key, ...this.#tables.factor.keys(`${key}.`)]) {
      this.#tables.factor.clear(each);
      this.#share(each, { failures: 0, lastAt: this.#now() });
    }
  }

  /** Ends all delays. Known sources stay known. */
  clear(): void {
    for (const table of Object.values(this.#tables)) table.clearAll();
  }

  #allowed(counters: readonly Counter[]): readonly Counter[] {
    const wait = Math.max(...counters.map(({ table, key }) => table.wait(key, this.#now())));
    if (wait > 0) throw newTooManyRequests('too many failed attempts', Math.ceil(wait / 1000));
    return counters;
  }

  #succeeded(accounts: FailureTable, accountKey: string, sourceKey: string, pairKey: string): void {
    const now = this.#now();
    const { lastAt } = accounts.of(pairKey, now);
    if (accounts.isDelaying(pairKey, now)) this.#share(pairKey, { failures: 0, lastAt });
    accounts.clear(pairKey);
    const isNew = this.#known.add(accountKey, sourceKey, now);
    // Other replicas need the known sources of a delayed account, so that its user can sign in there too.
    if (isNew && accounts.isDelaying(accountKey, now)) this.#share(accountKey, accounts.of(accountKey, now));
  }

  #share(key: string, { failures, lastAt }: Failures): void {
    this.#options.changed?.({ key, failures, lastAt, knownSources: this.#known.of(key) });
  }
}

const KNOWN_FOR_MS = 30 * 86_400_000;
const SOURCES_PER_ACCOUNT = 8;

/** Sources of successful sign-ins per account. Bounded: the least recently used account and source are evicted. */
class KnownSources {
  /** The times by source, the oldest first. */
  readonly #accounts: LRUCache<string, ReadonlyMap<string, number>>;

  constructor(accounts: number) {
    this.#accounts = new LRUCache({ max: accounts });
  }

  has(account: string, source: string, now: number): boolean {
    // A failed sign-in is no use.
    const since = this.#accounts.peek(account)?.get(source);
    return since !== undefined && now - since <= KNOWN_FOR_MS;
  }

  /** Returns true when the source was not known. */
  add(account: string, source: string, now: number): boolean {
    const isNew = !this.has(account, source, now);
    const others = [...(this.#accounts.get(account) ?? [])].filter(([other]) => other !== source);
    this.#accounts.set(account, new Map([...others.slice(1 - SOURCES_PER_ACCOUNT), [source, now]]));
    return isNew;
  }

  of(account: string): readonly string[] {
    return [...(this.#accounts.peek(account)?.keys() ?? [])];
  }
}
