// Checks a name and a password: for the password grant, the sign-in page, and people who change their own password. Every
// fault gets the same answer at the same cost; the cause goes to the records of logins.
import type { Logger } from 'pino';
import { isServiceUnavailable, isTooManyRequests, retryAfterSeconds } from '../../../apis/meta/v1/errors.ts';
import {
  invalidGrant,
  invalidRequest,
  temporarilyUnavailable,
  tooManyAttempts,
} from '../../../apis/oauth/errors.ts';
import { pause } from '../../concurrency/pause.ts';
import type { LoginThrottle } from '../throttle/login-throttle.ts';
import type { Account, Credential, CredentialStore, UserDirectory } from '../users/account.ts';
import type { Decoys } from './decoys.ts';
import type { HashFlow } from './hash-queue.ts';
import type { PasswordHasher } from './hasher.ts';
import type { LoginMethod, LoginOutcome, LoginRecords } from './login-records.ts';
import { isTooLong } from './password-policy.ts';

export interface PasswordSignInOptions {
  /** Whether users, passwords and sessions are known here; until then nobody is refused or let in. */
  readonly ready: () => boolean;
  readonly users: Pick<UserDirectory, 'get'>;
  readonly credentials: Pick<CredentialStore, 'get' | 'set'>;
  readonly hasher: Pick<PasswordHasher, 'verify' | 'hash' | 'needsRehash'>;
  readonly decoys: Pick<Decoys, 'of'>;
  readonly throttle: Pick<LoginThrottle, 'reserve'>;
  readonly records: LoginRecords;
  readonly log: Pick<Logger, 'warn'>;
  /** How long what was refused waits for news of the user, in ms; 100 when none is given. */
  readonly settleMs?: number;
}

export interface SignInAttempt {
  readonly user: string;
  readonly password: string;
  readonly method: LoginMethod;
  /** Id of the client; empty where none is involved. */
  readonly client: string;
  readonly source: string;
  readonly userAgent: string;
  readonly requestID: string;
  /** A password that has to be replaced is refused unless the caller makes the user replace it. */
  readonly acceptMustChange?: boolean;
  readonly signal: AbortSignal;
}

export interface CheckedUser {
  readonly account: Account;
  /** The one that was checked. */
  readonly credential: Credential;
}

/** Ten times what a watch needs in a cluster that is well. */
const SETTLE_MS = 100;

/** An attempt that the throttle has let through. */
interface AdmittedAttempt extends SignInAttempt {
  readonly flow: HashFlow;
}

/** What is known of a name. */
interface Known {
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

  /** Throws OAuthError: 400 `invalid_grant`, 429 with the time to wait, 503 when it cannot be told now. */
  async check(attempt: SignInAttempt): Promise<CheckedUser> {
    const { ready, throttle } = this.#options;
    const { password, source, signal } = attempt;
    if (isTooLong(password)) throw invalidRequest('the password is too long');
    if (!ready()) throw this.#unavailable(attempt, undefined);
    // Users are Kubernetes objects: their names have no upper case and no spaces, which keyboards of phones put in.
    const name = attempt.user.trim().toLowerCase();
    const known = this.#known(name);
    const reservation = await throttle.reserve(name, source, signal).catch((error: unknown) => {
      throw this.#refusedByThrottle(attempt, known.account, error);
    });
    const flow = reservation.isKnown ? 'known' : 'unknown';
    const verdict = await this.#settled(name, known, { ...attempt, flow }).catch((error: unknown) => {
      reservation.cancelled();
      throw signal.aborted ? error : this.#unavailable(attempt, known.account, error);
    });
    if (verdict.outcome !== 'success') {
      // The right password of a disabled user counts as a failure too: the delays must not tell it from a wrong one.
      reservation.failed();
      this.#record(attempt, verdict.account, verdict.outcome);
      throw invalidGrant('the user name or the password is wrong', new Error(verdict.outcome));
    }
    reservation.succeeded();
    return this.#admit(attempt, verdict);
  }

  /**
   * Users and passwords reach us by watch: one that was made a moment ago is let in when word of it comes. Whatever is
   * wrong waits as long, and nothing is asked of the cluster, so names tell nothing and cost it nothing. The wait alone
   * shows that it was wrong: leaving meanwhile counts as a failure, or guessing would be free.
   */
  async #settled(name: string, known: Known, attempt: AdmittedAttempt): Promise<Verdict> {
    const verdict = await this.#verdict(name, known, attempt);
    if (verdict.outcome === 'success') return verdict;
    await pause(this.#options.settleMs ?? SETTLE_MS, attempt.signal);
    const news = this.#known(name);
    return attempt.signal.aborted || !hasChanged(known, news) ? verdict : this.#verdict(name, news, attempt);
  }

  async #verdict(name: string, known: Known, { password, flow, signal }: AdmittedAttempt): Promise<Verdict> {
    const { hasher, decoys } = this.#options;
    const stored = known.credential?.passwordHash ?? decoys.of(name);
    return verdictOf(known, await hasher.verify(stored, password, { flow, signal }));
  }

  async #admit(attempt: SignInAttempt, { account, credential }: CheckedUser): Promise<CheckedUser> {
    if (credential.mustChange && !attempt.acceptMustChange) {
      this.#record(attempt, account, 'must_change');
      throw invalidGrant('the password has to be changed first, on the sign-in page');
    }
    await this.#renewHash(account, credential, attempt);
    this.#record(attempt, account, 'success');
    return { account, credential };
  }

  #known(name: string): Known {
    const { users, credentials } = this.#options;
    const account = users.get(name);
    return { account, credential: account && ownCredential(account, credentials.get(name)) };
  }

  #refusedByThrottle(attempt: SignInAttempt, account: Account | undefined, error: unknown): unknown {
    if (isTooManyRequests(error)) {
      this.#record(attempt, account, 'throttled');
      return tooManyAttempts(retryAfterSeconds(error) ?? 1, error);
    }
    return isServiceUnavailable(error) ? this.#unavailable(attempt, account, error) : error;
  }

  #unavailable(attempt: SignInAttempt, account: Account | undefined, cause?: unknown): unknown {
    if (cause !== undefined && !isServiceUnavailable(cause)) return cause;
    this.#record(attempt, account, 'unavailable');
    const seconds = cause === undefined ? undefined : retryAfterSeconds(cause);
    return temporarilyUnavailable('sign-ins cannot be checked now, try again', seconds ?? 1, cause);
  }

  /** While the password is known. If this fails nobody is locked out: the old hash stays. */
  async #renewHash(
    account: Account,
    credential: Credential,
    { password, signal }: SignInAttempt,
  ): Promise<void> {
    const { hasher, credentials, log } = this.#options;
    if (!hasher.needsRehash(credential.passwordHash)) return;
    try {
      const passwordHash = await hasher.hash(password, signal);
      await credentials.set(account.name, { ...credential, passwordHash }, signal);
    } catch (err) {
      log.warn({ err, user: account.name }, 'a password hash could not be renewed');
    }
  }

  #record(attempt: SignInAttempt, account: Account | undefined, outcome: LoginOutcome): void {
    const { method, client, source, userAgent, requestID } = attempt;
    this.#options.records.record({
      method,
      outcome,
      user: account?.name,
      client,
      source,
      userAgent,
      requestID,
    });
  }
}

/** Not that of an earlier user of the same name. */
function ownCredential(account: Account, credential: Credential | undefined): Credential | undefined {
  return credential?.userUID === account.uid ? credential : undefined;
}

/** In what matters here; users change for other reasons too. */
function hasChanged(before: Known, now: Known): boolean {
  return (
    before.account?.uid !== now.account?.uid ||
    before.account?.disabled !== now.account?.disabled ||
    before.credential?.passwordHash !== now.credential?.passwordHash
  );
}

function verdictOf({ account, credential }: Known, matches: boolean): Verdict {
  if (!account) return { outcome: 'unknown_user', account };
  if (!credential) return { outcome: 'no_password', account };
  if (!matches) return { outcome: 'wrong_password', account };
  return account.disabled ? { outcome: 'disabled', account } : { outcome: 'success', account, credential };
}
