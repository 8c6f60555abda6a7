// Throttles passwords and second factors: failed attempts delay further attempts for the same account or address. Unknown user names
// are throttled like existing ones.
import { LRUCache } from 'lru-cache';
import { isTooManyRequests, newTooManyRequests, retryAfterSeconds } from '../../../apis/meta/v1/errors.ts';
import { tooManyAttempts } from '../../../apis/oauth/oauth-error.ts';
import { networkOf } from '../../admission/network.ts';
import { type DelayLimits, type Failures, FailureTable } from './failure-table.ts';

export interface ThrottleLimits extends DelayLimits {
  /** Failures from one source before its first delay. */
  readonly sourceFailures: number;
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
  readonly now: () => number;
}

/** An attempt without a delay. Disposing it before its outcome is known means that nothing was verified. */
export interface CountedAttempt extends Disposable {
  /** Whether the account has signed in from this source before. */
  readonly isKnown: boolean;
  /**
   * Called before the password is verified: the attempt counts as a failure until it ends. Throws TooManyRequests if other attempts
   * have failed meanwhile, or would cause a delay if they failed.
   */
  begin(): void;
  succeeded(): void;
  failed(): void;
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

/**
 * For clients and pages: OAuthError 429 for the error of an attempt during a delay, after a call of `throttled`; every other error as it
 * is.
 */
export function throttledError(error: unknown, throttled: () => void): unknown {
  if (!isTooManyRequests(error)) return error;
  throttled();
  return tooManyAttempts(retryAfterSeconds(error) ?? 1, error);
}

/** Begins an attempt that is verified at once. Throws as `throttledError` does. */
export function beginAttempt(
  throttle: Pick<LoginThrottle, 'attempt'>,
  of: { readonly account: string; readonly source: string; readonly kind?: Attempted },
  throttled: () => void,
): CountedAttempt {
  try {
    const attempt = throttle.attempt(of.account, of.source, of.kind);
    attempt.begin();
    return attempt;
  } catch (error) {
    throw throttledError(error, throttled);
  }
}

export class LoginThrottle {
  readonly #options: LoginThrottleOptions;
  /** Those of accounts, people and factors contain known pairs with a source, too. */
  readonly #tables: Readonly<Record<Attempted | 'source', FailureTable>>;
  readonly #known: KnownSources;

  constructor(options: LoginThrottleOptions) {
    const { limits, now } = options;
    const { sourceFailures: failures, delay } = limits;
    const maxDelay = Math.min(limits.maxDelay, MAX_SOURCE_DELAY);
    this.#options = options;
    this.#tables = {
      account: new FailureTable(limits, now),
      person: new FailureTable({ ...limits, delay: Math.max(delay, PERSON_DELAY) }, now),
      factor: new FailureTable({ ...limits, ...FACTOR_DELAYS }, now),
      source: new FailureTable({ ...limits, failures, maxDelay }, now),
    };
    this.#known = new KnownSources(limits.entries, now);
  }

  /** Number of tracked accounts and sources. */
  get size(): number {
    return Object.values(this.#tables).reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Throws TooManyRequests with the time to wait while a delay is in effect. The caller reports the outcome of the attempt.
   * `account`: the user name in its canonical spelling, or the key of a person of an identity provider.
   */
  attempt(account: string, source: string, kind: Attempted = 'account'): CountedAttempt {
    const { digest, isSignedIn } = this.#options;
    const table = this.#tables[kind];
    const network = networkOf(source);
    const key = digest(kind, account);
    const sourceKey = digest('source', network);
    const pair = { table, key: `${key}.${sourceKey}` };
    const isKnown = (): boolean => this.#known.has(key, sourceKey) || isSignedIn?.(account, network) === true;
    // A known pair is counted separately, so failures from other addresses, and of other accounts at the same address, do not delay it.
    const allowed = (): readonly Counter[] =>
      withoutDelay(
        isKnown()
          ? [pair]
          : [
              { table, key },
              { table: this.#tables.source, key: sourceKey },
            ],
      );
    allowed();
    const pending: Counter[] = [];
    const end = (): readonly Counter[] => {
      for (const each of pending) each.table.end(each.key);
      return pending.splice(0);
    };
    return {
      isKnown: isKnown(),
      begin: () => {
        if (pending.length > 0) return;
        pending.push(...allowed());
        for (const each of pending) each.table.begin(each.key);
      },
      failed: () => {
        for (const each of end()) {
          each.table.fail(each.key);
          if (each.table.isDelaying(each.key)) this.#share(each.key, each.table.of(each.key));
        }
      },
      succeeded: () => {
        end();
        if (table.isDelaying(pair.key)) this.#share(pair.key, { ...table.of(pair.key), failures: 0 });
        table.clear(pair.key);
        // Other replicas need the known sources of a delayed account, so that its user can sign in there too.
        if (this.#known.add(key, sourceKey) && table.isDelaying(key)) this.#share(key, table.of(key));
      },
      [Symbol.dispose]: end,
    };
  }

  /** Merges a record that another replica wrote, or this one before a restart. */
  merge({ key, knownSources, ...failures }: ThrottleRecord): void {
    for (const source of knownSources) {
      if (!this.#known.has(key, source)) this.#known.add(key, source);
    }
    this.#tableOf(key).merge(key, failures);
  }

  isExpired(record: ThrottleRecord): boolean {
    return this.#tableOf(record.key).isExpired(record);
  }

  /** Ends the delays of the second factor of an account, here and at other replicas. */
  forgive(account: string): void {
    const { digest, now } = this.#options;
    const { factor } = this.#tables;
    const key = digest('factor', account);
    // Only the replica of a sign-in knows its source, but all have the failures of a delayed one.
    for (const each of [key, ...factor.keys(`${key}.`)]) {
      factor.clear(each);
      this.#share(each, { failures: 0, lastAt: now() });
    }
  }

  /** Ends all delays. Known sources stay known. */
  clear(): void {
    for (const table of Object.values(this.#tables)) table.clearAll();
  }

  /** The key of a record begins with its kind. */
  #tableOf(key: string): FailureTable {
    const { account, ...others } = this.#tables;
    return Object.entries(others).find(([kind]) => key.startsWith(kind))?.[1] ?? account;
  }

  #share(key: string, { failures, lastAt }: Failures): void {
    this.#options.changed?.({
      key,
      failures,
      lastAt,
      knownSources: this.#known.of(key).map(([source]) => source),
    });
  }
}

function withoutDelay(counters: readonly Counter[]): readonly Counter[] {
  const wait = Math.max(...counters.map(({ table, key }) => table.wait(key)));
  if (wait > 0) throw newTooManyRequests('too many failed attempts', Math.ceil(wait / 1000));
  return counters;
}

const KNOWN_FOR_MS = 30 * 86_400_000;
const SOURCES_PER_ACCOUNT = 8;

/** Sources of successful sign-ins per account. Bounded: the least recently used account and source are evicted. */
class KnownSources {
  /** The times by source, the oldest first. */
  readonly #accounts: LRUCache<string, ReadonlyMap<string, number>>;
  readonly #now: () => number;

  constructor(accounts: number, now: () => number) {
    this.#accounts = new LRUCache({ max: accounts });
    this.#now = now;
  }

  has(account: string, source: string): boolean {
    // A failed sign-in is no use.
    const since = this.#accounts.peek(account)?.get(source);
    return since !== undefined && this.#now() - since <= KNOWN_FOR_MS;
  }

  /** Returns true when the source was not known. */
  add(account: string, source: string): boolean {
    const isNew = !this.has(account, source);
    const others = this.of(account).filter(([other]) => other !== source);
    this.#accounts.set(account, new Map([...others.slice(1 - SOURCES_PER_ACCOUNT), [source, this.#now()]]));
    return isNew;
  }

  of(account: string): readonly (readonly [source: string, since: number])[] {
    return [...(this.#accounts.peek(account) ?? [])];
  }
}
