import { sameHash } from './refresh-token.ts';
import type { SessionStore, StoredSession } from './session.ts';

/**
 * For a write whose answer was lost, which says nothing about the write: the session as it stands if `session` was
 * written, undefined if it was not or if nobody can say. Known by its refresh token, which nobody else can have made; so
 * a session without one is never recognized. Never rejects.
 */
export async function writtenAfterAll(
  sessions: Pick<SessionStore, 'read'>,
  { id, refreshHash }: Pick<StoredSession, 'id' | 'refreshHash'>,
  signal: AbortSignal,
): Promise<StoredSession | undefined> {
  const found = await sessions.read(id, signal).catch(() => undefined);
  return found && refreshHash !== '' && sameHash(found.refreshHash, refreshHash) ? found : undefined;
}
