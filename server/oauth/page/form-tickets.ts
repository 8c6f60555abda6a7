// Creates and verifies CSRF tokens in hidden form fields, with the state of the form and a MAC. A CSRF token is
// valid for one form in one browser.
import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { KeyRing } from '../keys/key-ring.ts';

export interface TicketOptions {
  readonly keys: Pick<KeyRing, 'mac' | 'checkMac'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** A ticket with a valid MAC. If it has a `rejection`, the form may be shown again, but must not be processed. */
export interface OpenedTicket<T> {
  readonly content: T;
  readonly rejection: TicketRejection | undefined;
}

export type TicketRejection = 'expired' | 'other browser';

interface Body<T> {
  readonly content: T;
  readonly notAfter: number;
  /** Digest of the browser id: the ticket is part of the page, which must not contain the id itself. */
  readonly browser: string;
}

/** A ticket is a CSRF token with content. Every replica accepts the tickets of the other replicas. */
export class FormTickets<T> {
  readonly #purpose: string;
  readonly #lifetimeMs: number;
  readonly #options: TicketOptions;

  /** `step`: a ticket is valid only in the step that it was issued for. */
  constructor(step: string, lifetimeMs: number, options: TicketOptions) {
    this.#purpose = `form ${step}`;
    this.#lifetimeMs = lifetimeMs;
    this.#options = options;
  }

  /** Throws ServiceUnavailable (StatusError) while there is no key. */
  seal(content: T, browser: string): string {
    const { keys, now } = this.#options;
    const body = { content, notAfter: now() + this.#lifetimeMs, browser: digest(browser) } satisfies Body<T>;
    const payload = Buffer.from(JSON.stringify(body)).toString('base64url');
    return `${payload}.${keys.mac(this.#purpose, payload)}`;
  }

  /** Returns undefined for a ticket without a valid MAC for this step. */
  open(ticket: string, browser: string): OpenedTicket<T> | undefined {
    const dot = ticket.indexOf('.');
    if (dot < 0) return undefined;
    const payload = ticket.slice(0, dot);
    const { keys, now } = this.#options;
    if (!keys.checkMac(this.#purpose, payload, ticket.slice(dot + 1))) return undefined;
    // The MAC proves that `seal` of the same step has written it.
    const body = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Body<T>;
    const { content } = body;
    if (body.browser !== digest(browser)) return { content, rejection: 'other browser' };
    return { content, rejection: now() >= body.notAfter ? 'expired' : undefined };
  }
}

function digest(browser: string): string {
  return hash('sha256', browser, 'base64url');
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
