import type { Account, PasswordID } from '../users/account.ts';
import type { Session } from './session.ts';

/** Why a session counts no longer although it has not expired. */
export type SessionEnd =
  | 'user deleted'
  | 'user made anew'
  | 'user disabled'
  | 'password removed'
  | 'password made anew'
  | 'password changed'
  | 'password set back';

/** By its user and password as they are now; undefined while they are those that signed in. */
export function sessionEnd(
  session: Pick<Session, 'userUID' | 'createdAt' | 'passwordAt' | 'credentialUID'>,
  account: Account | undefined,
  credential: PasswordID | undefined,
): SessionEnd | undefined {
  if (!account) return 'user deleted';
  if (account.uid !== session.userUID) return 'user made anew';
  if (account.disabled) return 'user disabled';
  // Every session began with a password: who takes it away takes away what was got with it.
  if (!credential) return 'password removed';
  const { createdAt, passwordAt = createdAt, credentialUID = credential.uid } = session;
  // Before the times are compared: those of two objects say nothing about which of them is the later one.
  if (credentialUID !== credential.uid) return 'password made anew';
  if (passwordAt < credential.changedAt) return 'password changed';
  // By a clock that is behind, or out of a backup; unless it is we who have not heard of the one that signed in.
  if (session.passwordAt !== undefined && passwordAt > credential.changedAt) return 'password set back';
  return undefined;
}
