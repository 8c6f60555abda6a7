// Whether what a token stands on still stands: its session, its user, and the password that the session began with.
// Asked at every use of a token, so a revocation holds as soon as we have heard of it.
import { newServiceUnavailable, newUnauthorized } from '../../../apis/meta/v1/errors.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { Session, SessionStore } from '../sessions/session.ts';
import { SessionHolders } from '../sessions/session-holders.ts';
import type { CredentialDirectory, UserDirectory } from '../users/account.ts';
import { sessionOfAny } from './access-token.ts';

/** The part of a session that decides whether its tokens are valid. */
export type TokenSession = Pick<
  Session,
  'user' | 'userUID' | 'clientID' | 'createdAt' | 'passwordAt' | 'credentialUID' | 'notAfter' | 'idleNotAfter'
>;

/** See SessionStore. */
export interface TokenSessions extends Pick<SessionStore, 'fresh'> {
  get(id: string): TokenSession | undefined;
  read(id: string, signal: AbortSignal): Promise<TokenSession | undefined>;
}

export interface LivenessOptions {
  readonly sessions: TokenSessions;
  readonly users: UserDirectory;
  readonly credentials: CredentialDirectory;
  /** Whether what was known last counts while the sessions cannot be seen. */
  readonly acceptWhenStale: boolean;
  /** Ms since the epoch. */
  readonly now?: () => number;
}

/** Of a token or of its id. */
export interface Bearer {
  readonly sid: string;
  readonly user: string;
  /** Unknown when kube-apiserver does not hand it on: that takes its flag `--requestheader-uid-headers`. */
  readonly uid: string | undefined;
  /** Unknown when only the token's id reached us. */
  readonly clientID: string | undefined;
}

export class Liveness {
  readonly #options: LivenessOptions;
  readonly #now: () => number;
  readonly #holders: SessionHolders;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#holders = new SessionHolders({ ...options, now: this.#now });
  }

  /**
   * Throws Unauthorized when it is over, ServiceUnavailable when that cannot be told now. Synchronous when the
   * session and its user are known here; else the cluster is asked, for another replica may have made them a moment
   * ago.
   */
  check(bearer: Bearer, { signal }: CallContext): Promise<void> | void {
    const { sessions, acceptWhenStale } = this.#options;
    const session = sessions.get(bearer.sid);
    if (!sessions.fresh && !(acceptWhenStale && session)) {
      throw newServiceUnavailable('sessions cannot be seen at the moment');
    }
    if (session) return this.#judge(session, bearer, signal);
    return sessions.read(bearer.sid, signal).then((found) => {
      if (!found) throw over('there is no such session');
      return this.#judge(found, bearer, signal);
    });
  }

  #judge(session: TokenSession, { user, uid, clientID }: Bearer, signal: AbortSignal): Promise<void> | void {
    const { users, credentials, acceptWhenStale } = this.#options;
    const now = this.#now();
    if (session.user !== user || (clientID !== undefined && session.clientID !== clientID)) {
      throw over('the session belongs to somebody else');
    }
    if (now >= session.notAfter || now >= session.idleNotAfter) throw over('the session has expired');
    if (uid !== undefined && session.userUID !== uid) throw over('user made anew');
    const seen = users.synced && credentials.synced;
    if (!seen && !(acceptWhenStale && users.get(user) && credentials.get(user))) {
      throw newServiceUnavailable('users cannot be seen at the moment');
    }
    const end = this.#holders.end(session);
    if (end === undefined) return undefined;
    if (!this.#holders.isUnsettled(session)) throw over(end);
    return this.#holders.settledEnd(session, signal).then((settled) => {
      if (settled !== undefined) throw over(settled);
    });
  }
}

/** The same question for the id of a token, which the aggregator hands on; ids that are not ours are not judged. */
export class TokenIDs {
  readonly #liveness: Liveness;

  constructor(liveness: Liveness) {
    this.#liveness = liveness;
  }

  check(
    jti: string,
    { name, uid }: { readonly name: string; readonly uid: string },
    context: CallContext,
  ): Promise<void> | void {
    const sid = sessionOfAny(jti);
    if (sid === undefined) return undefined;
    return this.#liveness.check(
      { sid, user: name, uid: uid === '' ? undefined : uid, clientID: undefined },
      context,
    );
  }
}

function over(why: string): Error {
  return newUnauthorized(new Error(why));
}
