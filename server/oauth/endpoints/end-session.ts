import type { Logger } from 'pino';
import { temporarilyUnavailable } from '../../../apis/oauth/errors.ts';
import type { SessionStore } from '../sessions/session.ts';

/** Of which session, client and user a token is. */
export interface Login {
  readonly session: string;
  readonly clientID: string;
  readonly user: string;
}

export interface SessionEnder {
  readonly sessions: Pick<SessionStore, 'delete'>;
  readonly log: Pick<Logger, 'info'>;
}

/** On every replica. Throws OAuthError 503: one that could not be ended must not look as if it were (RFC 7009, 2.2.1). */
export async function endSession(
  { session, clientID, user }: Login,
  reason: 'signed out' | 'revoked',
  { sessions, log }: SessionEnder,
  signal: AbortSignal,
): Promise<void> {
  await sessions.delete(session, signal).catch((error: unknown) => {
    throw temporarilyUnavailable('the session cannot be ended at the moment', 1, error);
  });
  log.info({ session, user, client: clientID, reason }, 'session ended');
}
