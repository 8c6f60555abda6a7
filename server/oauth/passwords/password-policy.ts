/** In characters. Long ones are welcome (NIST 800-63B asks for 64 at least): hashing costs the same. */
export const PASSWORD_LENGTH = { least: 8, most: 1024 } as const;

/** Different characters. */
export const PASSWORD_VARIETY = 4;

/** Whether nobody can have this password, since none as long as it could be set. Counts as the policy does. */
export function isTooLong(password: string): boolean {
  // A character is one or two UTF-16 units: most need not be taken apart.
  if (password.length <= PASSWORD_LENGTH.most) return false;
  return password.length > 2 * PASSWORD_LENGTH.most || Array.from(password).length > PASSWORD_LENGTH.most;
}

/** What is wrong with a new password of this user, each as the end of a sentence "the password …"; empty when nothing. */
export function passwordFaults(password: string, user: string): string[] {
  const characters = Array.from(password);
  const faults: string[] = [];
  if (characters.length < PASSWORD_LENGTH.least) {
    faults.push(`must have at least ${PASSWORD_LENGTH.least} characters`);
  } else if (new Set(characters).size < PASSWORD_VARIETY) {
    faults.push(`must have at least ${PASSWORD_VARIETY} different characters`);
  }
  if (isTooLong(password)) {
    faults.push(`must have at most ${PASSWORD_LENGTH.most} characters`);
  }
  if (/\p{Cc}|\p{Cs}/u.test(password)) faults.push('must not hold control characters');
  if (user !== '' && password.toLowerCase() === user.toLowerCase())
    faults.push('must not be the name of the user');
  return faults;
}
