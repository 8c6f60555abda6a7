// Replaces the second factors of a user who has lost them by a one-time code, with which the user adds a new one at the next sign-in.
import type { UserID } from '../users/account.ts';
import type { AuthenticatorsStore } from './authenticators-store.ts';
import { hashOfCode, newRecoveryCode } from './recovery-codes.ts';

/** Only its hash is stored. */
export interface OneTimeCode {
  readonly code: string;
  /** Ms since the epoch. */
  readonly notAfter: number;
}

const VALIDITY_MS = 24 * 3_600_000;

/** One write, so that at no time the password alone suffices. The caller ends the sessions. Throws ServiceUnavailable. */
export async function resetFactors(
  user: UserID,
  authenticators: Pick<AuthenticatorsStore, 'update'>,
  now: number,
  signal: AbortSignal,
): Promise<OneTimeCode> {
  const code = newRecoveryCode();
  const notAfter = now + VALIDITY_MS;
  const recoveryCodes = [{ hash: hashOfCode(code), notAfter: new Date(notAfter).toISOString() }];
  await authenticators.update(user, () => ({ passkeys: [], recoveryCodes }), signal);
  return { code, notAfter };
}
