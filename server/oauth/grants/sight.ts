import { temporarilyUnavailable } from '../../../apis/oauth/errors.ts';
import type { SessionStore } from '../sessions/session.ts';
import type { CredentialDirectory, UserDirectory } from '../users/account.ts';

export interface Sight {
  readonly sessions: Pick<SessionStore, 'fresh'>;
  readonly users: Pick<UserDirectory, 'synced'>;
  readonly credentials: Pick<CredentialDirectory, 'synced'>;
}

/** Throws OAuthError 503 while nobody can tell whether a code or a refresh token counts. */
export function checkSight({ sessions, users, credentials }: Sight): void {
  if (sessions.fresh && users.synced && credentials.synced) return;
  throw temporarilyUnavailable('sessions cannot be seen at the moment', 1);
}
