// Verifies a user name and password. All failures get the same response after the same work; only the audit log
// contains the reason.

import type { Logger } from 'pino';
import { isServiceUnavailable, retryAfterSeconds } from '../../../apis/meta/v1/errors.ts';
import { invalidGrant, invalidRequest, temporarilyUnavailable } from '../../../apis/oauth/oauth-error.ts';
import { networkCaller } from '../../admission/network.ts';
import { userCaller } from '../../authentication/user.ts';
import { NEVER_ABORTED } from '../../concurrency/aborted.ts';
import { pause } from '../../concurrency/pause.ts';
import type { NewPerson } from '../providers/identities.ts';
import type { ProviderSignIn } from '../providers/provider-sign-in.ts';
import { type Authentication, byPassword } from '../sessions/proof.ts';
import type { SecondFactorRule } from '../sessions/session-validity.ts';
import {
  type CountedAttempt,
  type LoginThrottle,
  PersonAttempts,
  throttledError,
} from '../throttle/login-throttle.ts';
import type { Account, Credential, CredentialStore, UserDirectory } from '../users/account.ts';
import type { DecoyHashes } from './decoy-hashes.ts';
import type { LoginMethod, LoginOrigin, LoginRecord, LoginRecords } from './login-records.ts';
import { isTooLong, type PasswordHasher } from './password-hasher.ts';
import { NameMissing, signInRefusal } from './sign-in-refusal.ts';

interface PasswordSignInOptions {
  /** Whether the caches of users, passwords and sessions are synced; until then every attempt gets a 503. */
  readonly ready: () => boolean;
  readonly users: Pick<UserDirectory, 'get'>;
  readonly credentials: Pick<CredentialStore, 'get' | 'set'>;
  readonly hasher: Pick<PasswordHasher, 'verify' | 'hash' | 'needsRehash'>;
  readonly decoys: Pick<DecoyHashes, 'of'>;
  readonly throttle: Pick<LoginThrottle, 'attempt'>;
  /** Verifies passwords of people who have no local one; undefined without identity providers. */
  readonly providers: Pick<ProviderSignIn, 'notices' | 'check'> | undefined;
  /** Who needs more than a password. */
  readonly factorPolicy: Pick<SecondFactorRule, 'lacksFactor'>;
  readonly records: LoginRecords;
  readonly log: Pick<Logger, 'warn'>;
  /** Ms since the epoch. */
  readonly now: () => number;
  /** Time that a failed attempt waits for watch events about the user, in ms; default 100. */
  readonly settleMs?: number;
}

export interface SignInAttempt extends LoginOrigin {
  readonly user: string;
  readonly password: string;
  readonly method: LoginMethod;
  /** Accept a password that must be replaced, because the caller makes the user replace it. */
  readonly acceptMustChange?: boolean;
  /** Accept a password that does not suffice, because the caller asks for the second factor. */
  readonly asksForFactor?: boolean;
  readonly signal: AbortSignal;
}

export interface CheckedUser {
  /** With the groups of the identity provider. */
  readonly account: Account;
  readonly authentication: Authentication;
  /** The verified credential; undefined if an identity provider has verified the password. */
  readonly credential: Credential | undefined;
}

/** About ten times the usual delay of a watch event. */
const SETTLE_MS = 100;

/** An attempt that the throttle has allowed. */
interface AllowedAttempt extends SignInAttempt {
  readonly counted: CountedAttempt;
  readonly people: PersonAttempts;
}

/** Cached user and credential of a name. */
interface Found {
  readonly account: Account | undefined;
  readonly credential: Credential | undefined;
}

type Verdict = Pick<LoginRecord, 'provider' | 'person'> &
  (
    | ({ readonly outcome: 'success' } & CheckedUser)
    | {
        readonly outcome: Exclude<LoginRecord['outcome'], 'success'>;
        readonly account: Account | undefined;
        /** Whether an identity provider has accepted the password. */
        readonly isProven?: boolean;
        readonly newPerson?: NewPerson;
      }
  );

type Recorded = Pick<LoginRecord, 'outcome' | 'provider' | 'person'> & {
  readonly account: Account | undefined;
};

/** Outcomes of identity providers that say nothing about the password. */
const UNPROVEN: ReadonlySet<LoginRecord['outcome']> = new Set([
  'unknown_user',
  'wrong_password',
  'throttled',
  'unavailable',
]);

export class PasswordSignIn {
  readonly #options: PasswordSignInOptions;

  constructor(options: PasswordSignInOptions) {
    this.#options = options;
  }

  /** What users should know while an identity provider does not work. */
  get notices(): readonly string[] {
    return this.#options.providers?.notices ?? [];
  }

  /** Throws OAuthError: 400 `invalid_grant`, also NameMissing, 429 with the time to wait, 503 while the password cannot be verified. */
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
    using counted = await throttle.attempt(name, source).catch(refused);
    using people = new PersonAttempts(throttle, source);
    const verdict = await this.#settledVerdict(name, found, { ...attempt, counted, people }).catch(refused);
    if (verdict.outcome !== 'success') {
      const { outcome, isProven = false, newPerson } = verdict;
      // The correct password of a disabled local user is a failure too, so that delays do not distinguish it from a wrong one.
      if (!isProven) {
        const ofPeople = outcome === 'unavailable' ? Promise.resolve() : people.failed();
        await Promise.all([counted.failed(), ofPeople]).catch(refused);
      }
      this.#record(attempt, verdict);
      if (newPerson) throw new NameMissing(newPerson);
      const refusal = signInRefusal(outcome, { isProven, notices: this.notices });
      throw refusal ?? invalidGrant('the user name or the password is wrong', new Error(outcome));
    }
    counted.succeeded();
    people.succeeded();
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
    // An identity provider verifies a password once, because it counts failures too.
    return attempt.signal.aborted || verdict.provider !== undefined || !hasChanged(found, latest)
      ? verdict
      : this.#verdict(name, latest, attempt);
  }

  /**
   * Identity providers are asked while the decoy hash is verified, which takes longer, and a local name counts as a person too: the time
   * does not reveal where a name is known.
   */
  async #verdict(name: string, found: Found, attempt: AllowedAttempt): Promise<Verdict> {
    const { hasher, decoys, providers, now } = this.#options;
    const { password, counted, people, source, signal, method } = attempt;
    const stored = found.credential?.passwordHash ?? decoys.of(name);
    const seat = counted.isKnown
      ? ({ flow: 'known', caller: userCaller({ name }) } as const)
      : ({ flow: 'unknown', caller: networkCaller(source) } as const);
    let asked: Promise<Verdict> | undefined;
    let local: Promise<void> | undefined;
    const begin = (): void => {
      counted.begin();
      if (!providers || method === 'password_change') return;
      if (found.credential) local = people.begin(`local ${name}`).catch(() => undefined);
      else asked = this.#providerVerdict(providers, found, attempt);
      asked?.catch(() => undefined);
    };
    const matches = await hasher.verify(stored, password, { ...seat, signal, begin });
    if (asked) return await asked;
    const verdict = verdictOf(found, matches, now());
    if (verdict.outcome !== 'success') await local;
    return verdict;
  }

  /**
   * Failures count for the person too, whom the directory finds by several spellings of a name. A stranger does not learn that a person is
   * delayed: with a second spelling, that would tell that the directory knows the name.
   */
  async #providerVerdict(
    providers: Pick<ProviderSignIn, 'check'>,
    { account }: Found,
    { user, password, source, counted, people }: AllowedAttempt,
  ): Promise<Verdict> {
    const checking = providers.check({
      user: user.trim(),
      password,
      resolved: (key, owner) => people.begin(key, owner),
      // An attempt is completed although its client has disconnected: otherwise disconnecting would bypass the throttle.
      signal: NEVER_ABORTED,
      caller: networkCaller(source),
    });
    const verdict = await checking.catch((error: unknown) => {
      if (counted.isKnown || !people.isDelayed) throw error;
      return { outcome: 'throttled' } as const;
    });
    if (verdict.outcome === 'success') return { ...verdict, credential: undefined };
    return { ...verdict, account, isProven: !UNPROVEN.has(verdict.outcome) };
  }

  async #admit(attempt: SignInAttempt, verdict: Verdict & CheckedUser): Promise<CheckedUser> {
    const { account, authentication, credential } = verdict;
    if (credential?.mustChange && !attempt.acceptMustChange) {
      this.#record(attempt, { outcome: 'must_change', account });
      throw invalidGrant('the password must be changed first, on the sign-in page');
    }
    // A user who is signed in has the factor already, and only confirms the password.
    const lacksFactor =
      attempt.method !== 'password_change' && this.#options.factorPolicy.lacksFactor(account, authentication);
    this.#record(attempt, lacksFactor ? { ...verdict, outcome: 'second_factor_required' } : verdict);
    if (lacksFactor && !attempt.asksForFactor)
      throw invalidGrant('a second factor is required: sign in with a browser, or with the device flow');
    if (credential) await this.#rehash(account, credential, attempt);
    return { account, authentication, credential };
  }

  #find(name: string): Found {
    const { users, credentials } = this.#options;
    const account = users.get(name);
    return { account, credential: account && ownCredential(account, credentials.get(name)) };
  }

  #refusal(attempt: SignInAttempt, account: Account | undefined, error: unknown): unknown {
    if (isServiceUnavailable(error)) return this.#unavailable(attempt, account, error);
    return throttledError(error, () => this.#record(attempt, { outcome: 'throttled', account }));
  }

  #unavailable(attempt: SignInAttempt, account: Account | undefined, cause?: unknown): Error {
    this.#record(attempt, { outcome: 'unavailable', account });
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

  #record(attempt: SignInAttempt, { outcome, account, provider, person }: Recorded): void {
    const { method } = attempt;
    this.#options.records.record(attempt, { method, outcome, user: account?.name, provider, person });
  }
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

function verdictOf({ account, credential }: Found, matches: boolean, now: number): Verdict {
  if (!account) return { outcome: 'unknown_user', account };
  if (!credential) return { outcome: 'no_password', account };
  if (!matches) return { outcome: 'wrong_password', account };
  if (account.disabled) return { outcome: 'disabled', account };
  return { outcome: 'success', account, credential, authentication: byPassword(credential, now) };
}
