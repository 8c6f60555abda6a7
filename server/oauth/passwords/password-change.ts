import { MAX_CLOCK_DIFFERENCE_MS } from '../sessions/session-object.ts';
import type { Credential, PasswordID } from '../users/account.ts';

/** Whether it is still the one that was checked: one that was set in the meantime must not be overwritten. */
export function isStill(checked: PasswordID, present: Credential | undefined): present is Credential {
  return present?.uid === checked.uid && present.changedAt === checked.changedAt;
}

/**
 * Now, but after the previous change, which another clock may have put a little into the future: sessions are compared
 * with this time, so it should not go back. A time further ahead is a mistake, and is not kept.
 */
export function changeTime(before: number | undefined, now: number): number {
  return before === undefined || before - now > MAX_CLOCK_DIFFERENCE_MS ? now : Math.max(now, before + 1);
}
