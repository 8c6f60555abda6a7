// Recovery codes: random codes for a user without the authenticator app. Only hashes are stored, and a used code is removed.
import { hash, randomBytes } from 'node:crypto';
import type { RecoveryCode } from '../../../apis/iam/v1beta1/authenticators-resource.ts';
import { sameHash } from '../sessions/session.ts';

/** Number of codes that a user gets. */
export const RECOVERY_CODES = 10;
/** Of 32 characters each has five bits: 80 bits, so that a fast hash is sufficient. */
const LENGTH = 16;
/** Base32 (RFC 4648), which lacks the digits that look like letters. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const GROUP = 4;

/** As `abcd-efgh-ijkl-mnop`. */
export function newRecoveryCode(): string {
  const characters = [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length]);
  return Array.from({ length: LENGTH / GROUP }, (_, index) =>
    characters.slice(index * GROUP, (index + 1) * GROUP).join(''),
  ).join('-');
}

export function newRecoveryCodes(): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
}

/** Spaces, hyphens and upper case do not matter. */
export function hashOfCode(typed: string): string {
  return hash('sha256', typed.toLowerCase().replaceAll(/[\s-]/g, ''));
}

/** The code with this hash, unless it has expired. `now`: ms since the epoch. */
export function unusedCode(
  codes: readonly RecoveryCode[],
  hashed: string,
  now: number,
): RecoveryCode | undefined {
  const found = codes.find((code) => sameHash(code.hash, hashed));
  return found && isUsable(found, now) ? found : undefined;
}

function isUsable({ notAfter }: RecoveryCode, now: number): boolean {
  return notAfter === undefined || now < Date.parse(notAfter);
}
