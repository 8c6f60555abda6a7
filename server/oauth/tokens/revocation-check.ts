// Checks at every use of an access token whether the session, user and password are still valid.
import { newServiceUnavailable, newUnauthorized } from '../../../apis/meta/v1/errors.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { Session, SessionStore } from '../sessions/session.ts';
import type { CheckedSession, SessionValidity } from '../sessions/session-validity.ts';
import { sessionOfAny } from './access-token.ts';

/** kubectl shows it. kubelogin does not know that its token was revoked, so it gives it to kubectl until it expires. */
export const SESSION_ENDED = 'the session has ended: sign in again (kubelogin: kubectl oidc-login clean)';

/** The fields of a session that decide whether its tokens are valid. */
type TokenSession = CheckedSession & Pick<Session, 'clientID' | 'notAfter' | 'idleNotAfter'>;

/** See SessionStore. */
interface TokenSessions extends Pick<SessionStore, 'fresh'> {
  get(id: string): TokenSession | undefined;
  read(id: string, call: CallContext): Promise<TokenSession | undefined>;
}

interface RevocationCheckOptions {
  readonly sessions: TokenSessions;
  readonly validity: Pick<SessionValidity, 'synced' | 'end' | 'mayBeStale' | 'confirmedEnd'>;
  /** Ms since the epoch. */
  readonly now?: () => number;
}

/** The claims that the check compares. */
interface TokenIdentity {
  readonly sid: string;
  readonly user: string;
  /** Undefined when kube-apiserver does not forward it (flag `--requestheader-uid-headers`). */
  readonly uid: string | undefined;
  /** Undefined when only the token's `jti` is known. */
  readonly clientID: string | undefined;
}

export class RevocationCheck {
  readonly #options: RevocationCheckOptions;
  readonly #now: () => number;

  constructor(options: RevocationCheckOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Throws Unauthorized for a revoked token, ServiceUnavailable when that cannot be determined. Synchronous when session
   * and user are in the cache; otherwise reads the cluster, because another replica may have just created them.
   */
  check(token: TokenIdentity, context: CallContext): Promise<void> | void {
    const { sessions } = this.#options;
    const session = sessions.get(token.sid);
    if (!sessions.fresh) throw newServiceUnavailable('the session cache is stale');
    if (session) return this.#checkSession(session, token, context);
    return sessions.read(token.sid, context).then((found) => {
      if (!found) throw ended('session not found');
      return this.#checkSession(found, token, context);
    });
  }

  #checkSession(
    session: TokenSession,
    { user, uid, clientID }: TokenIdentity,
    context: CallContext,
  ): Promise<void> | void {
    const { validity } = this.#options;
    const now = this.#now();
    if (session.user !== user || (clientID !== undefined && session.clientID !== clientID)) {
      throw newUnauthorized(new Error('the session belongs to another user or client'));
    }
    if (now >= session.notAfter || now >= session.idleNotAfter) throw ended('the session has expired');
    if (uid !== undefined && session.userUID !== uid) throw newUnauthorized(new Error('user recreated'));
    if (!validity.synced) throw newServiceUnavailable('the user cache is stale');
    const end = validity.end(session);
    if (end === undefined) return undefined;
    if (!validity.mayBeStale(session)) throw ended(end);
    return validity.confirmedEnd(session, context).then((confirmed) => {
      if (confirmed !== undefined) throw ended(confirmed);
    });
  }
}

/** The revocation check for a `jti` that the aggregator forwards. A `jti` of another issuer is not checked. */
export class TokenIDCheck {
  readonly #revocation: RevocationCheck;

  constructor(revocation: RevocationCheck) {
    this.#revocation = revocation;
  }

  check(
    jti: string,
    { name, uid }: { readonly name: string; readonly uid: string },
    context: CallContext,
  ): Promise<void> | void {
    const sid = sessionOfAny(jti);
    if (sid === undefined) return undefined;
    return this.#revocation.check(
      { sid, user: name, uid: uid === '' ? undefined : uid, clientID: undefined },
      context,
    );
  }
}

function ended(reason: string): Error {
  return newUnauthorized(new Error(reason), SESSION_ENDED);
}
