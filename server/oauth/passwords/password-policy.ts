// Rules for a new password, and for replacing the current one.
import { MAX_CLOCK_DIFFERENCE_MS } from '../sessions/session-object.ts';
import type { Credential, PasswordID } from '../users/account.ts';

/** In characters. NIST SP 800-63B requires a maximum of at least 64; hashing costs the same for all lengths. */
export const PASSWORD_LENGTH = { least: 8, most: 1024 } as const;

/** Minimum number of different characters. */
export const PASSWORD_VARIETY = 4;

/** Whether a password is longer than the policy allows, so that no user can have it. */
export function isTooLong(password: string): boolean {
  // A character is one or two UTF-16 units, so most strings need no split.
  if (password.length <= PASSWORD_LENGTH.most) return false;
  return password.length > 2 * PASSWORD_LENGTH.most || Array.from(password).length > PASSWORD_LENGTH.most;
}

/** Violations by a new password of this user, each as the end of a sentence "the password …". */
export function passwordViolations(password: string, user: string): string[] {
  const characters = Array.from(password);
  const violations: string[] = [];
  if (characters.length < PASSWORD_LENGTH.least) {
    violations.push(`must have at least ${PASSWORD_LENGTH.least} characters`);
  } else if (new Set(characters).size < PASSWORD_VARIETY) {
    violations.push(`must have at least ${PASSWORD_VARIETY} different characters`);
  }
  if (isTooLong(password)) {
    violations.push(`must have at most ${PASSWORD_LENGTH.most} characters`);
  }
  if (/\p{Cc}|\p{Cs}/u.test(password)) violations.push('must not contain control characters');
  if (user !== '' && password.toLowerCase() === user.toLowerCase()) {
    violations.push('must not be the user name');
  }
  return violations;
}

/** Whether `current` is still the password that was verified. If not, it must not be overwritten. */
export function isSamePassword(verified: PasswordID, current: Credential | undefined): current is Credential {
  return current?.uid === verified.uid && current.changedAt === verified.changedAt;
}

/**
 * `changedTime` of a new password: `now`, but later than the previous one, which the clock of another replica may have set
 * slightly ahead; sessions are compared with it. A time further ahead is an error and is not kept.
 */
export function newChangeTime(previous: number | undefined, now: number): number {
  const isPlausible = previous !== undefined && previous - now <= MAX_CLOCK_DIFFERENCE_MS;
  return isPlausible ? Math.max(now, previous + 1) : now;
}
