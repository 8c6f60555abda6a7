// The alerts of forms that are not accepted: expired forms and wrong passwords.
import { OAuthError } from '../../../../apis/oauth/oauth-error.ts';
import type { TicketRejection } from '../../keys/tickets.ts';
import type { Alert } from '../../page/form-fields.ts';
import type { PageOptions } from '../../page/page.ts';
import { SignInRefused } from '../../passwords/sign-in-refusal.ts';

export const WRONG_PASSWORD: Alert = { text: 'User name or password is wrong.', field: 'password' };
export const PASSWORD_CHANGED: Alert = {
  text: 'Your password was changed in the meantime. Please sign in again.',
  field: 'password',
};

export const TICKET_ALERTS: Readonly<Record<TicketRejection, Alert>> = {
  expired: { text: 'This page was open for too long. Please sign in again.' },
  // Tabs that are opened at the same time each set the cookie, and the browser keeps the last one.
  'other holder': {
    text: 'Please sign in once more. If this page appears again, allow cookies for it.',
  },
};

/** The alert for a rejected password; undefined for any other error. */
export function rejection(
  error: unknown,
  wrong: Alert,
): { readonly alert: Alert; readonly options?: PageOptions } | undefined {
  if (error instanceof SignInRefused) {
    const { status, notice } = error;
    return { alert: { text: notice, field: 'password' }, options: { status } };
  }
  if (!(error instanceof OAuthError)) return undefined;
  const { status, code, retryAfterSeconds = 1 } = error;
  if (status === 429) {
    const headers = { 'Retry-After': String(retryAfterSeconds) };
    const text = `Too many attempts. Try again in ${duration(retryAfterSeconds)}.`;
    return { alert: { text, field: 'password' }, options: { status, headers } };
  }
  return code === 'invalid_grant' ? { alert: wrong } : undefined;
}

function duration(seconds: number): string {
  if (seconds < 120) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
