// The state of an account in a directory: disabled, expired, password changed. From attributes of OpenLDAP, Active Directory and 389
// Directory Server, and from the result of a bind.
import type { PasswordRejection } from '../provider.ts';
import type { BindResult } from './directory-client.ts';
import type { DirectoryEntry } from './directory-entry.ts';

/** Operational attributes are returned only if they are requested by name. */
export const STATE_ATTRIBUTES = [
  'userAccountControl',
  'accountExpires',
  'pwdLastSet',
  'pwdAccountLockedTime',
  'pwdChangedTime',
  'nsAccountLock',
] as const;

/** Bit of `userAccountControl`. */
const ACCOUNT_DISABLED = 0x2;
/** Value of `pwdAccountLockedTime` that only an administrator sets (draft-behera-ldap-password-policy, 5.3.3). */
const LOCKED_FOR_GOOD = '000001010000Z';
/** Values of `accountExpires` that mean never. */
const NEVER = new Set(['0', '9223372036854775807']);
/** From 1601 to 1970, in 100 ns. */
const WINDOWS_EPOCH = 116_444_736_000_000_000n;

/**
 * Whether an administrator has disabled the account, or it has expired. A lock after failed sign-ins is not included: otherwise anyone
 * could end the sessions of another person by guessing.
 */
export function isDisabled(entry: DirectoryEntry, now: number): boolean {
  const control = Number(entry.text('userAccountControl') ?? 0);
  if (!Number.isInteger(control) || (control & ACCOUNT_DISABLED) !== 0) return true;
  if (entry.texts('pwdAccountLockedTime').includes(LOCKED_FOR_GOOD)) return true;
  if (entry.texts('nsAccountLock').some((value) => value.toLowerCase() === 'true')) return true;
  const expires = entry.text('accountExpires') ?? '0';
  if (NEVER.has(expires)) return false;
  return !/^\d{1,19}$/.test(expires) || Number((BigInt(expires) - WINDOWS_EPOCH) / 10_000n) <= now;
}

/** Changes whenever the password changes; empty if the directory does not say. */
export function passwordVersion(entry: DirectoryEntry): string {
  return entry.text('pwdLastSet') ?? entry.text('pwdChangedTime') ?? '';
}

/** Result codes of RFC 4511 that say something about the password, and not about the server. */
const WRONG_PASSWORD = new Set([
  19, // constraintViolation: 389 Directory Server, after too many attempts
  32, // noSuchObject
  48, // inappropriateAuthentication: the entry has no password
  49, // invalidCredentials
  53, // unwillingToPerform: the account is inactive
]);
/** Sub-codes in the message of Active Directory that it sends for the right password only. */
const SUB_CODES: ReadonlyMap<string, PasswordRejection> = new Map([
  ['530', 'restricted'], // not at this time
  ['531', 'restricted'], // not from this computer
  ['532', 'expired'],
  ['533', 'disabled'],
  ['701', 'disabled'], // the account has expired
  ['773', 'must_change'],
]);
/** Errors of the password policy. OpenLDAP sends both for the right password only. */
const PASSWORD_EXPIRED = 0;
const CHANGE_AFTER_RESET = 2;

/** The meaning of a bind with the password of a person. Undefined: the server could not verify it. */
export function bindVerdict({
  code,
  message,
  policyError,
}: BindResult): 'accepted' | PasswordRejection | undefined {
  if (code === 0) return policyError === CHANGE_AFTER_RESET ? 'must_change' : 'accepted';
  if (!WRONG_PASSWORD.has(code)) return undefined;
  if (code === 49 && policyError === PASSWORD_EXPIRED) return 'expired';
  const subCode = /\bdata ([0-9a-f]{3,4})\b/i.exec(message)?.[1] ?? '';
  return (code === 49 && SUB_CODES.get(subCode)) || 'wrong_password';
}
