// CSRF tokens in hidden form fields, with the state of the form. A CSRF token is valid for one form in one browser.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type TicketOptions, Tickets } from '../keys/tickets.ts';

/** CSRF tokens for one step. Their holder is the browser id. */
export class FormTickets<T> extends Tickets<T> {
  constructor(step: string, lifetimeMs: number, options: TicketOptions) {
    super(`form ${step}`, lifetimeMs, options);
  }
}

// Cookie with the browser id. Browsers do not send it with forms of other sites (SameSite), and sibling domains cannot set
// it (prefix __Host-).
const COOKIE = '__Host-sign-in';
const COOKIE_IN_HEADER = new RegExp(`(?:^|; ?)${COOKIE}=([\\w-]{22})(?:;|$)`);

export interface Browser {
  readonly id: string;
  /** Value of `Set-Cookie`. SameSite=Lax, because users arrive from other sites. */
  readonly cookie: string;
}

/** The browser id from the cookie, or a new random one. */
export function browserOf(request: IncomingMessage): Browser {
  const id = browserIDIn(request) ?? randomBytes(16).toString('base64url');
  return { id, cookie: `${COOKIE}=${id}; Path=/; Secure; HttpOnly; SameSite=Lax` };
}

/** Returns undefined for a browser without the cookie: on its first visit, or when it rejects cookies. */
export function browserIDIn(request: IncomingMessage): string | undefined {
  return COOKIE_IN_HEADER.exec(request.headers.cookie ?? '')?.[1];
}

/** Whether the browser reports a cross-site form. Old browsers send no Sec-Fetch-Site; the ticket protects them. */
export function isCrossSite(request: IncomingMessage): boolean {
  const site = request.headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin';
}
