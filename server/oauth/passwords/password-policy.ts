// Checks new passwords against the password policy.
import { MAX_CLOCK_DIFFERENCE_MS } from '../sessions/session-object.ts';
import type { Credential, PasswordID } from '../users/account.ts';
import { isTooLong, PASSWORD_LENGTH } from './password-hasher.ts';

/** Minimum number of different characters. */
export const PASSWORD_VARIETY = 4;

/** Returns the violated rules as phrases that follow "the password", for instance "must have at least 8 characters". */
export function passwordViolations(password: string, user: string): string[] {
  const characters = Array.from(password);
  const violations: string[] = [];
  if (characters.length < PASSWORD_LENGTH.min) {
    violations.push(`must have at least ${PASSWORD_LENGTH.min} characters`);
  } else if (new Set(characters).size < PASSWORD_VARIETY) {
    violations.push(`must have at least ${PASSWORD_VARIETY} different characters`);
  }
  if (isTooLong(password)) {
    violations.push(`must have at most ${PASSWORD_LENGTH.max} characters`);
  }
  if (/\p{Cc}|\p{Cs}/u.test(password)) violations.push('must not contain control characters');
  if (user !== '' && password.toLowerCase() === user.toLowerCase()) {
    violations.push('must not be the user name');
  }
  return violations;
}

/** Whether `current` is still the verified password. A password that has changed meanwhile must not be overwritten. */
export function isSamePassword(verified: PasswordID, current: Credential | undefined): current is Credential {
  return current?.uid === verified.uid && current.changedAt === verified.changedAt;
}

/**
 * Returns the `changedTime` of a new password: `now`, or 1 ms after the previous `changedTime` if that is later. Sessions of
 * the previous password thus always have an earlier time, even if the clock of another replica is ahead. A previous time
 * that is more than MAX_CLOCK_DIFFERENCE_MS in the future is invalid and is ignored.
 */
export function newChangeTime(previous: number | undefined, now: number): number {
  const isPlausible = previous !== undefined && previous - now <= MAX_CLOCK_DIFFERENCE_MS;
  return isPlausible ? Math.max(now, previous + 1) : now;
}
