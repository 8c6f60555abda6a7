// How the user of a session was authenticated: the proof, its time and its methods. session-validity.ts checks whether
// the proof still holds.
import type { PasswordID } from '../users/account.ts';

/** The password that was verified. */
export interface PasswordProof {
  readonly kind: 'password';
  /** UID of the Credential object. */
  readonly credentialUID: string;
  /**
   * When the password was set, in ms since the epoch. The time of the session cannot replace it: another replica may have
   * changed the password while this replica still verified the old one.
   */
  readonly changedAt: number;
}

export type Proof = PasswordProof;

export interface Authentication {
  readonly proof: Proof;
  /** When the user was authenticated, in ms since the epoch. No refresh changes it (OpenID Connect Core, 12.2). */
  readonly authTime: number;
  /** Authentication methods (RFC 8176). */
  readonly amr: readonly string[];
}

/** Methods of a sign-in with a password only. */
export const PASSWORD_ONLY: readonly string[] = ['pwd'];

export function byPassword({ uid, changedAt }: PasswordID, authTime: number): Authentication {
  return { proof: { kind: 'password', credentialUID: uid, changedAt }, authTime, amr: PASSWORD_ONLY };
}
