import { randomBytes } from 'node:crypto';
import type { Session } from '../../../server/oauth/sessions/session.ts';
import { newSessionID } from '../../../server/oauth/sessions/session-object.ts';

/** Returns a new session of the user alice with the fields in `changes`. */
export function newSession(changes: Partial<Session> = {}): Session {
  const now = Date.now();
  return {
    id: newSessionID(randomBytes),
    user: 'alice',
    userUID: 'uid-of-alice',
    clientID: 'console',
    scopes: ['openid'],
    source: '192.0.2.7',
    userAgent: 'curl/8.5',
    createdAt: now,
    lastUsedAt: now,
    notAfter: now + 3_600_000,
    idleNotAfter: now + 600_000,
    generation: 0,
    refreshHash: 'a'.repeat(64),
    familyHash: 'f'.repeat(64),
    ...changes,
  };
}
