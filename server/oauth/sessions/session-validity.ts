// Checks the validity of unexpired sessions. A disabled or deleted user, a changed password, a sign-out of the browser, or a second
// factor that was not used makes a session invalid.
import type { CallContext } from '../../cluster/call-context.ts';
import type { ClientRegistry } from '../clients/oauth-client.ts';
import type { Account, CredentialDirectory, PasswordID, UserDirectory, UserID } from '../users/account.ts';
import type { Identity, IdentityDirectory } from '../users/identity-store.ts';
import { type Authentication, effectiveAccount, type IdentityProof, passwordOf } from './proof.ts';
import { isPending, type Session, type SessionStore } from './session.ts';

/** Why an unexpired session is invalid. */
export type SessionEnd =
  | 'user deleted'
  | 'user recreated'
  | 'user disabled'
  | 'password deleted'
  | 'password recreated'
  | 'password changed'
  | 'password restored'
  | 'identity deleted'
  | 'identity recreated'
  | 'identity of another user'
  | 'passkey removed'
  | 'signed out'
  | 'second factor missing';

/** The fields of a session that decide whether it is valid. */
export type CheckedSession = Pick<
  Session,
  'user' | 'userUID' | 'clientID' | 'createdAt' | 'refreshHash' | 'familyHash' | 'authentication' | 'browser'
>;

/** The fields that a sign-in has before its session. */
type CheckedSignIn = Pick<CheckedSession, 'user' | 'userUID' | 'createdAt' | 'authentication'>;

/** Passkeys of users (factors/authenticators-store.ts). */
interface PasskeyDirectory extends Pick<UserDirectory, 'synced' | 'catchUp'> {
  of(user: UserID): { readonly passkeys: readonly { readonly id: string }[] };
}

/** Who needs a second factor. */
export interface SecondFactorRule {
  /** False while the factors of users are unknown. */
  readonly synced: boolean;
  /** Whether a user who is authenticated in this way needs another factor; without `by`, with a password. */
  lacksFactor(user: UserID, by?: Pick<Authentication, 'proof' | 'amr'>): boolean;
}

export interface SessionValidityOptions {
  readonly users: Pick<UserDirectory, 'synced' | 'get' | 'catchUp'>;
  readonly credentials: Pick<CredentialDirectory, 'synced' | 'get' | 'catchUp'>;
  readonly identities: Pick<IdentityDirectory, 'synced' | 'get' | 'catchUp'>;
  readonly authenticators: PasskeyDirectory;
  readonly sessions: Pick<SessionStore, 'has' | 'read'>;
  readonly clients: Pick<ClientRegistry, 'get'>;
  readonly factorPolicy: SecondFactorRule;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/**
 * Age below which a session may be newer than the caches. Caches that are further behind are stale, and requests get 503
 * then.
 */
const YOUNG_MS = 30_000;

/**
 * Compares sessions with the cached users and passwords. The caches may be behind the replica that created a session, so
 * the invalidity of a young session is confirmed by reads from the cluster. Callers check the MAC of a session first, so
 * invented tokens cause no reads.
 */
export class SessionValidity {
  readonly #options: SessionValidityOptions;

  constructor(options: SessionValidityOptions) {
    this.#options = options;
  }

  /** False while validity cannot be determined, because a cache is incomplete or stale. */
  get synced(): boolean {
    const { users, credentials, identities, authenticators } = this.#options;
    return users.synced && credentials.synced && identities.synced && authenticators.synced;
  }

  /** The user of a valid session, from the cache; tokens of the session have its groups. */
  accountOf({ user, authentication }: Pick<CheckedSession, 'user' | 'authentication'>): Account | undefined {
    const account = this.#options.users.get(user);
    return account && effectiveAccount(account, authentication?.proof);
  }

  /** Returns why the session is invalid, from the cache alone; undefined while it is valid. */
  end(session: CheckedSession): SessionEnd | undefined {
    const end = this.signInEnd(session) ?? this.#endWithFactor(session);
    return end ?? (this.#isSignedOut(session) ? 'signed out' : undefined);
  }

  /** Why a sign-in that may still lack a second factor cannot continue, from the cache. */
  signInEnd(session: CheckedSignIn): SessionEnd | undefined {
    const account = this.accountOf(session);
    if (!account) return 'user deleted';
    if (account.uid !== session.userUID) return 'user recreated';
    if (account.disabled) return 'user disabled';
    const { credentials } = this.#options;
    return this.#endWithProof(session, account) ?? passwordEnd(session, credentials.get(session.user));
  }

  /** Of a session from before the user had a factor, or the configuration required one. */
  #endWithFactor({ user: name, userUID: uid, authentication }: CheckedSession): SessionEnd | undefined {
    const { factorPolicy } = this.#options;
    return factorPolicy.lacksFactor({ name, uid }, authentication) ? 'second factor missing' : undefined;
  }

  #endWithProof(session: CheckedSignIn, account: Account): SessionEnd | undefined {
    const { identities, authenticators } = this.#options;
    const proof = session.authentication?.proof;
    if (proof?.kind === 'identity') return identityEnd(session, proof, identities.get(proof.name));
    if (proof?.kind !== 'passkey') return undefined;
    return authenticators.of(account).passkeys.some(({ id }) => id === proof.id)
      ? undefined
      : 'passkey removed';
  }

  /**
   * A session ends with the deletion of its browser session, also by kubectl, but not with the expiry: the garbage collection keeps
   * expired browser sessions for it.
   */
  #isSignedOut(session: CheckedSession): boolean {
    const { sessions, clients } = this.#options;
    const { browser, clientID } = session;
    if (browser === undefined || sessions.has(browser)) return false;
    return isPending(session) || !clients.get(clientID)?.keepAfterSignOut;
  }

  /** Whether the cache may lag behind the cluster for this session. */
  mayBeStale({ createdAt }: CheckedSession): boolean {
    return this.#options.now() - createdAt < YOUNG_MS;
  }

  /** Like `end`, but reads the user and the password from the cluster if the cache may be stale. Throws ServiceUnavailable. */
  async confirmedEnd(session: CheckedSession, call: CallContext): Promise<SessionEnd | undefined> {
    const end = this.end(session);
    if (end === undefined || !this.mayBeStale(session)) return end;
    const { users, credentials, identities, authenticators, sessions } = this.#options;
    const proof = session.authentication?.proof;
    await Promise.all([
      users.catchUp?.(session.user, call),
      credentials.catchUp?.(session.user, call),
      proof?.kind === 'identity' ? identities.catchUp?.(proof.name, call) : undefined,
      authenticators.catchUp?.(session.user, call),
    ]);
    const confirmed = this.end(session);
    if (confirmed !== 'signed out' || session.browser === undefined) return confirmed;
    return (await sessions.read(session.browser, call)) ? undefined : confirmed;
  }
}

/** Deleting the password, or changing it, ends all earlier sessions of the user, also those that began without it. */
function passwordEnd(
  { createdAt, authentication }: CheckedSignIn,
  credential: PasswordID | undefined,
): SessionEnd | undefined {
  const known = passwordOf(authentication);
  if (!credential) {
    const hadPassword = known !== undefined || authentication === undefined;
    return hadPassword ? 'password deleted' : undefined;
  }
  const { uid = credential.uid, changedAt = createdAt } = known ?? {};
  // UIDs first: times of two different objects cannot be compared.
  if (uid !== credential.uid) return 'password recreated';
  if (changedAt < credential.changedAt) return 'password changed';
  // The current password is older than the session's: it was restored from a backup or written by a clock that is behind,
  // or the cache does not contain the latest password yet.
  if (known && changedAt > credential.changedAt) return 'password restored';
  return undefined;
}

/** Deleting the Identity ends the sessions that began with it. */
function identityEnd(
  { user, userUID }: CheckedSignIn,
  proof: IdentityProof,
  identity: Identity | undefined,
): SessionEnd | undefined {
  if (!identity) return 'identity deleted';
  if (identity.uid !== proof.uid) return 'identity recreated';
  const isSameUser = identity.user === user && identity.userUID === userUID;
  return isSameUser ? undefined : 'identity of another user';
}
