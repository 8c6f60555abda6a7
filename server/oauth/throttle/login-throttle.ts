// Throttles passwords and second factors: failed attempts delay further attempts for the same account or address. Unknown user names
// are throttled like existing ones.
import { hash } from 'node:crypto';
import { isTooManyRequests, newTooManyRequests, retryAfterSeconds } from '../../../apis/meta/v1/errors.ts';
import { tooManyAttempts } from '../../../apis/oauth/oauth-error.ts';
import { networkOf } from '../../admission/network.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { type Failures, NO_FAILURES } from './delays.ts';
import type { FailureChange, SharedFailures } from './shared-failures.ts';

/** Time for which a source of a sign-in is known, in ms. */
const KNOWN_FOR_MS = 30 * 86_400_000;

/**
 * What the attempts are for. Each kind counts separately: the password does not reset the failures of the second factor, and no text that
 * is typed as a user name is the account of another kind. `name`: a person of an identity provider chooses a user name.
 */
export type Attempted = 'account' | 'person' | 'factor' | 'recovery' | 'name';

interface LoginThrottleOptions {
  readonly failures: Pick<SharedFailures, 'delaysOf' | 'get' | 'keys' | 'keep' | 'change'>;
  readonly keys: Pick<KeyRing, 'mac'>;
  readonly sessions: {
    /** Open sessions of an account, with the addresses of their sign-ins. */
    ofUser(account: string): readonly { readonly source: string }[];
  };
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
  /** Resolves when all replicas count the failure. Throws ServiceUnavailable if it cannot be written: then it counts at this replica. */
  failed(): Promise<void>;
}

/**
 * For clients and pages: OAuthError 429 for the error of an attempt during a delay, after a call of `throttled`; every other error as it
 * is.
 */
export function throttledError(error: unknown, throttled: () => void): unknown {
  if (!isTooManyRequests(error)) return error;
  throttled();
  return tooManyAttempts(retryAfterSeconds(error) ?? 1, error);
}

/** Begins an attempt that is verified at once. Throws TooManyRequests, with `throttled` as `throttledError` does, and ServiceUnavailable. */
export async function beginAttempt(
  throttle: Pick<LoginThrottle, 'attempt'>,
  of: {
    readonly account: string;
    readonly source: string;
    readonly kind?: Attempted;
    readonly user?: string | undefined;
  },
  throttled?: () => void,
): Promise<CountedAttempt> {
  let attempt: CountedAttempt | undefined;
  try {
    attempt = await throttle.attempt(of.account, of.source, of.kind, of.user);
    attempt.begin();
    return attempt;
  } catch (error) {
    attempt?.[Symbol.dispose]();
    throw throttled ? throttledError(error, throttled) : error;
  }
}

/**
 * The people to whom the name of one sign-in resolves. Their failures are written together with that of the name, so that the time does not
 * tell whether a directory knows the name.
 */
export class PersonAttempts implements Disposable {
  readonly #throttle: Pick<LoginThrottle, 'attempt'>;
  readonly #source: string;
  readonly #attempts: CountedAttempt[] = [];
  #isEnded = false;
  /** Whether a person is delayed. */
  isDelayed = false;

  constructor(throttle: Pick<LoginThrottle, 'attempt'>, source: string) {
    this.#throttle = throttle;
    this.#source = source;
  }

  /** `account`: the key of the person. `user`: the one to whom the person is linked. Throws as `beginAttempt` does. */
  async begin(account: string, user?: string): Promise<void> {
    const of = { account, user, source: this.#source, kind: 'person' } as const;
    const attempt = await beginAttempt(this.#throttle, of).catch((error: unknown) => {
      this.isDelayed = isTooManyRequests(error);
      throw error;
    });
    if (this.#isEnded) attempt[Symbol.dispose]();
    else this.#attempts.push(attempt);
  }

  async failed(): Promise<void> {
    await Promise.all(this.#attempts.map((attempt) => attempt.failed()));
  }

  succeeded(): void {
    for (const attempt of this.#attempts) attempt.succeeded();
  }

  [Symbol.dispose](): void {
    this.#isEnded = true;
    for (const attempt of this.#attempts) attempt[Symbol.dispose]();
  }
}

export class LoginThrottle {
  readonly #options: LoginThrottleOptions;
  /** Attempts whose outcome is not written yet, by key. They count as failures, so parallel attempts allow no more guesses. */
  readonly #pending = new Map<string, number>();

  constructor(options: LoginThrottleOptions) {
    this.#options = options;
  }

  /**
   * Throws TooManyRequests with the time to wait while a delay is in effect. The caller reports the outcome of the attempt.
   * `account`: the user name in its canonical spelling, or the key of a person of an identity provider. A code, and an attempt after a
   * delay, are written as a failure first, so that all replicas count them together: throws ServiceUnavailable if it cannot be written.
   * `user`: the one whose sessions make a source known.
   */
  async attempt(
    account: string,
    source: string,
    kind: Attempted = 'account',
    user = account,
  ): Promise<CountedAttempt> {
    const { failures, sessions, now } = this.#options;
    const network = networkOf(source);
    const key = this.#digest(kind, account);
    const sourceKey = this.#digest('source', network);
    const pair = `${key}.${sourceKey}`;
    const hasSignedIn = (): boolean =>
      now() - (failures.get(key).known[sourceKey] ?? -Infinity) <= KNOWN_FOR_MS;
    const isKnown = (): boolean =>
      hasSignedIn() || sessions.ofUser(user).some((session) => networkOf(session.source) === network);
    // A known pair is counted separately, so failures from other addresses, and of other accounts at the same address, do not delay it.
    // The source has counted the typed name already.
    const unknown = (): readonly [string, ...string[]] => (kind === 'person' ? [key] : [key, sourceKey]);
    const keys = (): readonly [string, ...string[]] => (isKnown() ? [pair] : unknown());
    let reserved: { readonly key: string; readonly withdraw: FailureChange } | undefined;
    let pending: readonly string[] = [];
    const begin = (): void => {
      if (pending.length > 0) return;
      const others = keys().filter((each) => each !== reserved?.key);
      this.#requireNoDelay(others);
      pending = others;
      for (const each of pending) this.#pend(each, 1);
    };
    const end = (): typeof reserved => {
      for (const each of pending) this.#pend(each, -1);
      const written = reserved;
      [pending, reserved] = [[], undefined];
      return written;
    };

    this.#requireNoDelay(keys());
    const [first] = keys();
    if (this.#mustReserve(first, kind)) {
      await failures.change(first, (record) => {
        this.#requireNoDelay([first], record);
        const counted = this.#failed(first)(record);
        reserved = { key: first, withdraw: withdrawal(record, counted) };
        return counted;
      });
    } else if (kind === 'person') begin();
    return {
      isKnown: isKnown(),
      begin,
      failed: async () => {
        const changes = pending.map((each) => [each, this.#failed(each)] as const);
        try {
          await Promise.all(changes.map((change) => failures.change(...change)));
        } catch (error) {
          for (const change of changes) failures.keep(...change);
          throw error;
        } finally {
          end();
        }
      },
      succeeded: () => {
        const written = end();
        const isNews = !hasSignedIn() && this.#count(key) > 0;
        const signedIn: FailureChange = (record) => ({
          ...record,
          known: { ...record.known, [sourceKey]: now() },
        });
        failures.keep(key, signedIn);
        if (written?.key === key) this.#changeLater(key, (record) => written.withdraw(signedIn(record)));
        // Other replicas need the known sources of an attacked account, so that its user can sign in there too.
        else if (isNews) this.#changeLater(key, signedIn);
        if (this.#count(pair) === 0) return;
        failures.keep(pair, forgiven);
        this.#changeLater(pair, forgiven);
      },
      [Symbol.dispose]: () => {
        const written = end();
        if (written) this.#changeLater(written.key, written.withdraw);
      },
    };
  }

  /** Ends the delays of the second factor of an account, at all replicas. Throws ServiceUnavailable. */
  async forgive(account: string): Promise<void> {
    const { failures } = this.#options;
    const key = this.#digest('factor', account);
    await Promise.all([key, ...failures.keys(`${key}.`)].map((each) => failures.change(each, forgiven)));
  }

  /** Passwords can be verified in parallel until a delay begins, that of a directory while nothing has failed; codes never. */
  #mustReserve(key: string, kind: Attempted): boolean {
    if (kind === 'factor') return true;
    const limit = kind === 'person' ? 1 : this.#options.failures.delaysOf(key).limits.failures;
    return this.#count(key) + (this.#pending.get(key) ?? 0) >= limit;
  }

  /** `current`: the record of the cluster, for a single key. */
  #requireNoDelay(keys: readonly string[], current?: Failures): void {
    const { failures } = this.#options;
    const waitOf = (key: string): number =>
      failures.delaysOf(key).wait(current ?? failures.get(key), this.#pending.get(key));
    const wait = Math.max(...keys.map(waitOf));
    if (wait > 0) throw newTooManyRequests('too many failed attempts', Math.ceil(wait / 1000));
  }

  #count(key: string): number {
    const { failures } = this.#options;
    return failures.delaysOf(key).count(failures.get(key));
  }

  #failed(key: string): FailureChange {
    return (record) => ({ ...record, ...this.#options.failures.delaysOf(key).failed(record) });
  }

  #pend(key: string, change: 1 | -1): void {
    const count = (this.#pending.get(key) ?? 0) + change;
    if (count > 0) this.#pending.set(key, count);
    else this.#pending.delete(key);
  }

  #changeLater(key: string, change: FailureChange): void {
    this.#options.failures.change(key, change).catch(() => undefined);
  }

  /** The key of a record. It depends on the newest MAC key, so counting restarts when that key is rotated. */
  #digest(kind: Attempted | 'source', value: string): string {
    const mac = this.#options.keys.mac(`login-throttle-${kind}`, value);
    return `${kind}-${hash('sha256', mac, 'hex').slice(0, 32)}`;
  }
}

const forgiven: FailureChange = (record) => ({ ...record, ...NO_FAILURES });

/** The earlier failures become no newer by an attempt that was none, unless another one has failed since. */
function withdrawal(before: Failures, reserved: Failures): FailureChange {
  return (record) => ({
    ...record,
    failures: Math.max(0, record.failures - 1),
    lastAt: record.lastAt === reserved.lastAt ? before.lastAt : record.lastAt,
  });
}
