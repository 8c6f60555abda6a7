// Verifies a user name and password. All failures get the same response after the same work; only the audit log
// contains the reason.
import type { Logger } from 'pino';
import { isServiceUnavailable, isTooManyRequests, retryAfterSeconds } from '../../../apis/meta/v1/errors.ts';
import {
  invalidGrant,
  invalidRequest,
  temporarilyUnavailable,
  tooManyAttempts,
} from '../../../apis/oauth/oauth-error.ts';
import { networkCaller } from '../../admission/network.ts';
import { userCaller } from '../../authentication/user.ts';
import { pause } from '../../concurrency/pause.ts';
import { recordedAgent } from '../../observability/printable-text.ts';
import type { CountedAttempt, LoginThrottle } from '../throttle/login-throttle.ts';
import type { Account, Credential, CredentialStore, UserDirectory } from '../users/account.ts';
import type { DecoyHashes } from './decoy-hashes.ts';
import { isTooLong, type PasswordHasher } from './password-hasher.ts';

/** Where the password was entered. */
export type LoginMethod = 'password_grant' | 'page' | 'password_change';

/** `unavailable`: the server could not verify the password. */
export type LoginOutcome =
  | 'success'
  | 'unknown_user'
  | 'no_password'
  | 'wrong_password'
  | 'disabled'
  | 'must_change'
  | 'throttled'
  | 'unavailable';

/** Audit record of a sign-in attempt. It contains no password. */
export interface LoginRecord {
  readonly method: LoginMethod;
  readonly outcome: LoginOutcome;
  /** Undefined for an unknown name, because users type passwords into the wrong field. */
  readonly user: string | undefined;
  /** Id of a configured client; empty without one. */
  readonly client: string;
  readonly source: string;
  readonly userAgent: string;
  readonly requestID: string;
}

export interface LoginRecords {
  record(login: LoginRecord): void;
}

export interface PasswordSignInOptions {
  /** Whether the caches of users, passwords and sessions are synced; until then every attempt gets a 503. */
  readonly ready: () => boolean;
  readonly users: Pick<UserDirectory, 'get'>;
  readonly credentials: Pick<CredentialStore, 'get' | 'set'>;
  readonly hasher: Pick<PasswordHasher, 'verify' | 'hash' | 'needsRehash'>;
  readonly decoys: Pick<DecoyHashes, 'of'>;
  readonly throttle: Pick<LoginThrottle, 'attempt'>;
  readonly records: LoginRecords;
  readonly log: Pick<Logger, 'warn'>;
  /** Time that a failed attempt waits for watch events about the user, in ms; default 100. */
  readonly settleMs?: number;
}

export interface SignInAttempt {
  readonly user: string;
  readonly password: string;
  readonly method: LoginMethod;
  /** Id of the client; empty without one. */
  readonly client: string;
  readonly source: string;
  readonly userAgent: string;
  readonly requestID: string;
  /** Accept a password that must be replaced, because the caller makes the user replace it. */
  readonly acceptMustChange?: boolean;
  readonly signal: AbortSignal;
}

export interface CheckedUser {
  readonly account: Account;
  /** The verified credential. */
  readonly credential: Credential;
}

/** About ten times the usual delay of a watch event. */
const SETTLE_MS = 100;

/** An attempt that the throttle has allowed. */
interface AllowedAttempt extends SignInAttempt {
  readonly counted: CountedAttempt;
}

/** Cached user and credential of a name. */
interface Found {
  readonly account: Account | undefined;
  readonly credential: Credential | undefined;
}

type Verdict =
  | ({ readonly outcome: 'success' } & CheckedUser)
  | { readonly outcome: Exclude<LoginOutcome, 'success'>; readonly account: Account | undefined };

export class PasswordSignIn {
  readonly #options: PasswordSignInOptions;

  constructor(options: PasswordSignInOptions) {
    this.#options = options;
  }

  /** Throws OAuthError: 400 `invalid_grant`, 429 with the time to wait, 503 while the password cannot be verified. */
  async check(attempt: SignInAttempt): Promise<CheckedUser> {
    const { ready, throttle } = this.#options;
    const { password, source, signal } = attempt;
    if (isTooLong(password)) throw invalidRequest('the password is too long');
    if (!ready()) throw this.#unavailable(attempt, undefined);
    // User names are Kubernetes names, without upper case and spaces; keyboards of phones add both.
    const name = attempt.user.trim().toLowerCase();
    const found = this.#find(name);
    const refused = (error: unknown): never => {
      throw signal.aborted ? error : this.#refusal(attempt, found.account, error);
    };
    const counted = await Promise.try(() => throttle.attempt(name, source)).catch(refused);
    const verdict = await this.#settledVerdict(name, found, { ...attempt, counted }).catch(
      (error: unknown) => {
        counted.cancelled();
        return refused(error);
      },
    );
    if (verdict.outcome !== 'success') {
      // The correct password of a disabled user is a failure too, so that delays do not distinguish it from a wrong one.
      counted.failed();
      this.#record(attempt, verdict.account, verdict.outcome);
      throw invalidGrant('the user name or the password is wrong', new Error(verdict.outcome));
    }
    counted.succeeded();
    return this.#admit(attempt, verdict);
  }

  /**
   * Verifies the password. After a failure it waits for watch events, and verifies again if the cached user or credential
   * has changed, because another replica may have written it a moment ago. Every failure waits the same time and reads
   * nothing from the cluster, so the wait reveals no user names. The attempt of a client that disconnects during the wait
   * counts as failed; otherwise disconnecting would bypass the throttle.
   */
  async #settledVerdict(name: string, found: Found, attempt: AllowedAttempt): Promise<Verdict> {
    const verdict = await this.#verdict(name, found, attempt);
    if (verdict.outcome === 'success') return verdict;
    await pause(this.#options.settleMs ?? SETTLE_MS, attempt.signal);
    const latest = this.#find(name);
    return attempt.signal.aborted || !hasChanged(found, latest)
      ? verdict
      : this.#verdict(name, latest, attempt);
  }

  async #verdict(
    name: string,
    found: Found,
    { password, counted, source, signal }: AllowedAttempt,
  ): Promise<Verdict> {
    const { hasher, decoys } = this.#options;
    const stored = found.credential?.passwordHash ?? decoys.of(name);
    const seat = counted.isKnown
      ? ({ flow: 'known', caller: userCaller({ name }) } as const)
      : ({ flow: 'unknown', caller: networkCaller(source) } as const);
    const begin = (): void => counted.begin();
    return verdictOf(found, await hasher.verify(stored, password, { ...seat, signal, begin }));
  }

  async #admit(attempt: SignInAttempt, { account, credential }: CheckedUser): Promise<CheckedUser> {
    if (credential.mustChange && !attempt.acceptMustChange) {
      this.#record(attempt, account, 'must_change');
      throw invalidGrant('the password must be changed first, on the sign-in page');
    }
    await this.#rehash(account, credential, attempt);
    this.#record(attempt, account, 'success');
    return { account, credential };
  }

  #find(name: string): Found {
    const { users, credentials } = this.#options;
    const account = users.get(name);
    return { account, credential: account && ownCredential(account, credentials.get(name)) };
  }

  #refusal(attempt: SignInAttempt, account: Account | undefined, error: unknown): unknown {
    if (isTooManyRequests(error)) {
      this.#record(attempt, account, 'throttled');
      return tooManyAttempts(retryAfterSeconds(error) ?? 1, error);
    }
    return isServiceUnavailable(error) ? this.#unavailable(attempt, account, error) : error;
  }

  #unavailable(attempt: SignInAttempt, account: Account | undefined, cause?: unknown): Error {
    this.#record(attempt, account, 'unavailable');
    const seconds = cause === undefined ? undefined : retryAfterSeconds(cause);
    return temporarilyUnavailable('sign-in is temporarily unavailable, try again later', seconds ?? 1, cause);
  }

  /** Replaces a weak hash while the password is available. A failure keeps the old hash. */
  async #rehash(
    account: Account,
    credential: Credential,
    { password, signal }: SignInAttempt,
  ): Promise<void> {
    const { hasher, credentials, log } = this.#options;
    if (!hasher.needsRehash(credential.passwordHash)) return;
    try {
      const passwordHash = await hasher.hash(password, { caller: userCaller(account), signal });
      await credentials.set(account.name, { ...credential, passwordHash }, signal);
    } catch (err) {
      log.warn({ err, user: account.name }, 'cannot replace a weak password hash');
    }
  }

  #record(attempt: SignInAttempt, account: Account | undefined, outcome: LoginOutcome): void {
    const { method, client, source, userAgent, requestID } = attempt;
    const user = account?.name;
    this.#options.records.record({ method, outcome, user, client, source, userAgent, requestID });
  }
}

/** Writes sign-in attempts to the audit log and the metrics. The lines of `audit` have `audit: true`, for log collectors. */
export function newLoginRecords(
  audit: { info(line: object, message: string): void },
  metrics: { login(labels: Pick<LoginRecord, 'method' | 'outcome' | 'client'>): void },
): LoginRecords {
  return {
    record: ({ method, outcome, user, client, source, userAgent, requestID }) => {
      metrics.login({ method, outcome, client });
      audit.info(
        {
          stage: 'Login',
          method,
          outcome,
          ...(user === undefined ? {} : { user }),
          ...(client === '' ? {} : { client }),
          source,
          userAgent: recordedAgent(userAgent),
          requestID,
        },
        'login',
      );
    },
  };
}

/** Ignores the credential of an earlier user with the same name. */
function ownCredential(account: Account, credential: Credential | undefined): Credential | undefined {
  return credential?.userUID === account.uid ? credential : undefined;
}

/** Compares only the fields that affect the verdict. */
function hasChanged(before: Found, now: Found): boolean {
  return (
    before.account?.uid !== now.account?.uid ||
    before.account?.disabled !== now.account?.disabled ||
    before.credential?.passwordHash !== now.credential?.passwordHash
  );
}

function verdictOf({ account, credential }: Found, matches: boolean): Verdict {
  if (!account) return { outcome: 'unknown_user', account };
  if (!credential) return { outcome: 'no_password', account };
  if (!matches) return { outcome: 'wrong_password', account };
  return account.disabled ? { outcome: 'disabled', account } : { outcome: 'success', account, credential };
}
