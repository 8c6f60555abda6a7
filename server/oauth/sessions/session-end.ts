import type { Account, Credential } from '../users/account.ts';
import type { Session } from './session.ts';

/** Why a session counts no longer although it has not expired. */
export type SessionEnd =
  | 'user deleted'
  | 'user made anew'
  | 'user disabled'
  | 'password removed'
  | 'password changed';

/** By its user and password as they are now; undefined while they are those that signed in. */
export function sessionEnd(
  session: Pick<Session, 'userUID' | 'createdAt' | 'passwordAt'>,
  account: Account | undefined,
  credential: Pick<Credential, 'changedAt'> | undefined,
): SessionEnd | undefined {
  if (!account) return 'user deleted';
  if (account.uid !== session.userUID) return 'user made anew';
  if (account.disabled) return 'user disabled';
  // Every session began with a password: who takes it away takes away what was got with it.
  if (!credential) return 'password removed';
  if ((session.passwordAt ?? session.createdAt) < credential.changedAt) return 'password changed';
  return undefined;
}
