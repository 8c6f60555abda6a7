// The sessions of the user of the account page: lists them, and ends them.

import type { RequestContext } from '../../../request/request-context.ts';
import type { ClientRegistry } from '../../clients/oauth-client.ts';
import { isUsedMark } from '../../codes/authorization-code.ts';
import type { ListedSession } from '../../page/account-page.ts';
import type { Proof } from '../../sessions/proof.ts';
import { isPending, NO_CLIENT, type SessionStore, type StoredSession } from '../../sessions/session.ts';
import type { SessionValidity } from '../../sessions/session-validity.ts';
import { type TerminationReason, terminateSession } from '../revoke.ts';
import type { BrowserSession, BrowserSessions } from './browser-sessions.ts';

interface AccountSessionsOptions {
  readonly sessions: Pick<SessionStore, 'ofUser' | 'readOfUser' | 'delete'>;
  readonly validity: Pick<SessionValidity, 'end'>;
  readonly clients: Pick<ClientRegistry, 'get'>;
  readonly browsers: Pick<BrowserSessions, 'end' | 'renew'>;
}

export class AccountSessions {
  readonly #options: AccountSessionsOptions;

  constructor(options: AccountSessionsOptions) {
    this.#options = options;
  }

  /** This browser first, then the last used ones. Without codes that no program has exchanged yet. */
  list(by: BrowserSession): readonly ListedSession[] {
    const { clients } = this.#options;
    return this.#of(by)
      .filter((session) => !isPending(session))
      .map((session) => ({
        ...session,
        client:
          session.clientID === NO_CLIENT
            ? undefined
            : (clients.get(session.clientID)?.displayName ?? session.clientID),
        isCurrent: session.id === by.session.id,
      }))
      .sort((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || b.lastUsedAt - a.lastUsedAt);
  }

  /** Ends a session of the user of `by`; any other id has no effect. Throws 503 unless it is ended. */
  async end(context: RequestContext, by: BrowserSession, id: string): Promise<void> {
    const ended = this.#of(by).find((session) => session.id === id);
    if (!ended) return;
    if (ended.clientID === NO_CLIENT) return this.#options.browsers.end(context, [ended]);
    await terminate(context, [ended], 'signed out', this.#options);
  }

  /** Ends all other sessions, those of kubectl, of unused codes and of copies of the cookie too. Throws 503 unless they are ended. */
  async endOthers(context: RequestContext, by: BrowserSession): Promise<void> {
    const { browsers, sessions } = this.#options;
    await browsers.renew(by, context);
    // From the cluster, because the cache may lack sessions that began at another replica before the renewal; later ones are rejected.
    const all = await sessions.readOfUser(by.account.name, context.signal);
    const others = all.filter((session) => isOwn(by, session) && session.id !== by.session.id);
    await terminate(context, others, 'signed out', this.#options);
  }

  #of(by: BrowserSession): readonly StoredSession[] {
    const { sessions, validity } = this.#options;
    return sessions
      .ofUser(by.account.name)
      .filter((session) => isOwn(by, session) && validity.end(session) === undefined);
  }
}

/** False for sessions of an earlier user with the same name, and for marks of used codes. */
function isOwn({ account }: BrowserSession, session: StoredSession): boolean {
  return session.userUID === account.uid && !isUsedMark(session);
}

/** The outcome of a change of a way to sign in. `signed out`: the browser has signed in this way. */
export type WayChange =
  | 'done'
  | 'signed out'
  /** The reason, for the user. */
  | { readonly refusal: string };

/** Ends the sessions of the user of `by` that began with a removed proof. Throws 503 unless all are ended. */
export async function endSessionsOf(
  context: RequestContext,
  { account, session: current }: BrowserSession,
  reason: TerminationReason,
  options: {
    readonly sessions: Pick<SessionStore, 'ofUser' | 'delete'>;
    readonly browsers: Pick<BrowserSessions, 'end'>;
  },
  isOf: (proof: Proof) => boolean,
): Promise<WayChange> {
  const began = options.sessions
    .ofUser(account.name)
    .filter(
      ({ userUID, authentication }) =>
        userUID === account.uid && authentication !== undefined && isOf(authentication.proof),
    );
  await terminate(context, began, reason, options);
  if (began.every(({ id }) => id !== current.id)) return 'done';
  await options.browsers.end(context, [current]);
  return 'signed out';
}

async function terminate(
  { log, signal }: RequestContext,
  ended: readonly StoredSession[],
  reason: TerminationReason,
  { sessions }: { readonly sessions: Pick<SessionStore, 'delete'> },
): Promise<void> {
  await Promise.all(
    ended.map(({ id: session, clientID, user }) =>
      terminateSession({ session, clientID, user }, reason, { sessions, log }, signal),
    ),
  );
}
