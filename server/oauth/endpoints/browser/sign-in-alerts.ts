// What the sign-in form says when it is shown again, and why.
import { OAuthError } from '../../../../apis/oauth/errors.ts';
import type { Alert } from '../../page/alert.ts';
import type { TicketFault } from '../../page/form-ticket.ts';
import type { PageOptions } from '../../page/page.ts';

export const WRONG: Alert = { text: 'User name or password is wrong.', field: 'password' };
export const CHANGED: Alert = {
  text: 'Your password was changed in the meantime. Please sign in again.',
  field: 'password',
};

/** Why the form has to be filled in again, whatever was typed into it. */
export const AGAIN: Readonly<Record<TicketFault, Alert>> = {
  expired: { text: 'This page was open for too long. Please sign in again.' },
  // Several tabs that a browser opens at once get a cookie each, of which it keeps the last.
  'other browser': {
    text: 'Please sign in once more. If this page keeps coming back, let the browser keep cookies for it.',
  },
};

/** What the form says about a password that was not accepted; undefined for other errors. */
export function refusal(
  error: unknown,
  wrong: Alert,
): { readonly alert: Alert; readonly options?: PageOptions } | undefined {
  if (!(error instanceof OAuthError)) return undefined;
  const { status, code, retryAfterSeconds = 1 } = error;
  if (status === 429) {
    const headers = { 'Retry-After': String(retryAfterSeconds) };
    const text = `Too many attempts. Try again in ${duration(retryAfterSeconds)}.`;
    return { alert: { text, field: 'password' }, options: { status, headers } };
  }
  if (code !== 'invalid_grant') return undefined;
  return { alert: wrong };
}

function duration(seconds: number): string {
  if (seconds < 120) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
