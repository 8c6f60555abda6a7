// Authenticates users by a passkey: alone, or after a password. Each challenge is accepted once, because its issue time must be later
// than that of the passkey's last one, and a write with a precondition stores it before the sign-in counts.
import type { Passkey } from '../../../apis/iam/v1beta1/authenticators-resource.ts';
import { temporarilyUnavailable } from '../../../apis/oauth/oauth-error.ts';
import { printable } from '../../observability/printable-text.ts';
import type { LoginMethod, LoginOrigin, LoginOutcome, LoginRecords } from '../passwords/login-records.ts';
import type { AccountLinks } from '../providers/account-links.ts';
import { type Authentication, byPasskey } from '../sessions/proof.ts';
import type { Account, CredentialDirectory, PasswordID, UserDirectory, UserID } from '../users/account.ts';
import type { AuthenticatorsStore, Factors } from './authenticators-store.ts';
import {
  type Assertion,
  type Ceremony,
  PasskeyRejected,
  parseAssertion,
  passkeyMethods,
  type RelyingParty,
  relyingPartyOf,
  requestOptions,
  type UserVerification,
  userUIDOf,
  type VerifiedAssertion,
  verifyAssertion,
} from './passkeys.ts';

export interface PasskeySignInOptions {
  readonly issuer: () => string;
  readonly platformName: string;
  /** Whether the caches of users and authenticators are synced. */
  readonly ready: () => boolean;
  readonly users: Pick<UserDirectory, 'get'>;
  readonly credentials: Pick<CredentialDirectory, 'get'>;
  readonly links: Pick<AccountLinks, 'of' | 'synced'>;
  readonly authenticators: Pick<AuthenticatorsStore, 'of' | 'all' | 'update'>;
  readonly records: LoginRecords;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** A submitted form with a passkey. */
export interface PasskeyResponse {
  /** JSON of the browser. */
  readonly text: string;
  /** The ticket of the form, whose validity the caller has checked. */
  readonly ticket: string;
  /** Issue time of the ticket, in ms since the epoch. */
  readonly issuedAt: number;
}

type PasskeyAttempt = LoginOrigin & { readonly signal: AbortSignal };

type PasskeyVerdict =
  | { readonly account: Account; readonly authentication: Authentication }
  /** The reason, for the user. */
  | { readonly refusal: string };

interface Verdict {
  readonly outcome: LoginOutcome;
  readonly user?: string;
  readonly reason?: string;
}

export const PASSKEY_REFUSED = 'The passkey was not accepted. Try again, or sign in another way.';
const DISABLED = 'Your account is disabled. Ask an administrator of this platform.';

export class PasskeySignIn {
  readonly #options: PasskeySignInOptions;

  constructor(options: PasskeySignInOptions) {
    this.#options = options;
  }

  /** Undefined if the issuer cannot have passkeys. */
  get relyingParty(): RelyingParty | undefined {
    const { issuer, platformName } = this.#options;
    return relyingPartyOf(issuer(), platformName);
  }

  /** The options of the browser for a sign-in with a passkey alone. */
  optionsFor(ticket: string) {
    const { relyingParty } = this;
    return relyingParty && requestOptions({ relyingParty, ticket }, 'required');
  }

  /** The options of the browser for a passkey of this user after a password; undefined if the user has none. */
  secondFactorOptions(user: UserID, ticket: string) {
    const { relyingParty } = this;
    const { passkeys } = this.#options.authenticators.of(user);
    return relyingParty && passkeys.length > 0
      ? requestOptions({ relyingParty, ticket }, 'preferred', passkeys)
      : undefined;
  }

  /** Signs in the user whom the passkey names. Throws OAuthError 503 or StatusError during an outage of the cluster. */
  async signIn(response: PasskeyResponse, attempt: PasskeyAttempt): Promise<PasskeyVerdict> {
    const refused = (verdict: Verdict, refusal: string): PasskeyVerdict => {
      this.#record(attempt, verdict);
      return { refusal };
    };
    const { ready, links } = this.#options;
    if (!ready() || !links.synced) throw temporarilyUnavailable('users are not synced yet', 1);
    let account: Account | undefined;
    try {
      const { ceremony, assertion } = this.#parsed(response);
      account = this.#userOf(assertion);
      if (!account) return refused({ outcome: 'unknown_user' }, PASSKEY_REFUSED);
      const user = account.name;
      if (account.disabled) {
        await this.#verify(ceremony, assertion, account, 'required');
        return refused({ outcome: 'disabled', user }, DISABLED);
      }
      const used = await this.#use(ceremony, assertion, account, 'required', response, attempt.signal);
      const provider = this.#providerOf(account);
      if (provider !== undefined) {
        const text = `Sign in with your account of ${provider} first. The passkey is your second step.`;
        return refused({ outcome: 'provider_required', user }, text);
      }
      this.#record(attempt, { outcome: 'success', user });
      const password = this.#passwordOf(account);
      return {
        account,
        authentication: byPasskey(used.id, passkeyMethods(used), password, this.#options.now()),
      };
    } catch (error) {
      const user = account ? { user: account.name } : {};
      return refused({ outcome: 'wrong_passkey', reason: reasonOf(error), ...user }, PASSKEY_REFUSED);
    }
  }

  /**
   * Verifies a passkey of this user, after a password. Returns its methods (RFC 8176), undefined if it is rejected. Throws StatusError
   * during an outage of the cluster.
   */
  async confirm(
    user: UserID,
    response: PasskeyResponse,
    attempt: PasskeyAttempt,
  ): Promise<readonly string[] | undefined> {
    const record = (outcome: LoginOutcome, reason = {}): void =>
      this.#record(attempt, { outcome, user: user.name, ...reason }, 'second_factor');
    try {
      const { ceremony, assertion } = this.#parsed(response);
      const used = await this.#use(ceremony, assertion, user, 'preferred', response, attempt.signal);
      record('success');
      return passkeyMethods(used);
    } catch (error) {
      record('wrong_passkey', { reason: reasonOf(error) });
      return undefined;
    }
  }

  #parsed({ text, ticket }: PasskeyResponse): { readonly ceremony: Ceremony; readonly assertion: Assertion } {
    const { relyingParty } = this;
    if (!relyingParty) throw new PasskeyRejected('the issuer is at an IP address');
    return { ceremony: { relyingParty, ticket }, assertion: parseAssertion(text) };
  }

  /** Reads all authenticators of the cache, which takes less time than a signature. */
  #userOf(assertion: Assertion): Account | undefined {
    const { authenticators, users } = this.#options;
    const uid = userUIDOf(assertion);
    for (const { user } of authenticators.all()) {
      if (user.uid !== uid) continue;
      const account = users.get(user.name);
      return account?.uid === uid ? account : undefined;
    }
    return undefined;
  }

  async #verify(
    ceremony: Ceremony,
    assertion: Assertion,
    user: UserID,
    verification: UserVerification,
  ): Promise<VerifiedAssertion> {
    const known = passkeyIn(this.#options.authenticators.of(user), assertion.id);
    if (!known) throw new PasskeyRejected('the user has no such passkey');
    const named = userUIDOf(assertion);
    if (named !== undefined && named !== user.uid)
      throw new PasskeyRejected('the passkey names another user');
    return verifyAssertion(ceremony, assertion, known, verification);
  }

  async #use(
    ceremony: Ceremony,
    assertion: Assertion,
    user: UserID,
    verification: UserVerification,
    { issuedAt }: PasskeyResponse,
    signal: AbortSignal,
  ): Promise<Pick<Passkey, 'id' | 'backedUp'>> {
    const { authenticators, now } = this.#options;
    const state = await this.#verify(ceremony, assertion, user, verification);
    const written = await authenticators.update(
      user,
      (current) => {
        const passkey = passkeyIn(current, assertion.id);
        if (!passkey || !isLater(passkey, issuedAt, state.counter)) return undefined;
        const used = {
          ...passkey,
          ...state,
          lastUsedTime: new Date(now()).toISOString(),
          lastChallengeTime: new Date(issuedAt).toISOString(),
        };
        return { ...current, passkeys: current.passkeys.map((each) => (each === passkey ? used : each)) };
      },
      signal,
    );
    if (!written) throw new PasskeyRejected('the challenge or the counter was used before');
    return { id: assertion.id, backedUp: state.backedUp };
  }

  /**
   * Name of the identity provider that decides about this user, also if it is not configured any more. A passkey alone would outlive the
   * account at the provider, and have none of its groups. A user with a local password has this way in anyway.
   */
  #providerOf(account: Account): string | undefined {
    if (this.#passwordOf(account)) return undefined;
    return this.#options.links.of(account)[0]?.provider;
  }

  #passwordOf({ name, uid }: UserID): PasswordID | undefined {
    const credential = this.#options.credentials.get(name);
    return credential?.userUID === uid ? credential : undefined;
  }

  #record(attempt: PasskeyAttempt, verdict: Verdict, method: LoginMethod = 'passkey'): void {
    this.#options.records.record(attempt, { method, user: undefined, ...verdict });
  }
}

/** For the log. Throws every other error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof PasskeyRejected)) throw error;
  return printable(error.message, 200);
}

function passkeyIn({ passkeys }: Factors, id: string): Passkey | undefined {
  return passkeys.find((passkey) => passkey.id === id);
}

/** Whether neither the challenge nor the counter were used. A counter of 0 is that of an authenticator without one (WebAuthn, 7.2). */
function isLater(passkey: Passkey, issuedAt: number, counter: number): boolean {
  const { lastChallengeTime, counter: previous } = passkey;
  if (lastChallengeTime !== undefined && issuedAt <= Date.parse(lastChallengeTime)) return false;
  return counter > previous || (counter === 0 && previous === 0);
}
