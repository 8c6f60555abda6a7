// The forms of one step: their CSRF tokens in a hidden field, with the state of the form. A CSRF token is valid for one form in one browser.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RequestContext } from '../../request/request-context.ts';
import type { Form } from '../http/form.ts';
import { type OpenedTicket, type TicketOptions, Tickets } from '../keys/tickets.ts';
import { HostCookie, type Page, type PageOptions, writePage } from './page.ts';

export interface SubmittedForm<T> extends OpenedTicket<T> {
  readonly ticket: string;
}

/** The holder of the tickets is the browser. */
export class FormTickets<T> {
  readonly #tickets: Tickets<T>;

  constructor(step: string, lifetimeMs: number, options: TicketOptions) {
    this.#tickets = new Tickets(`form ${step}`, lifetimeMs, options);
  }

  /** Writes the page with the form, and sets the cookie of the browser. `page`: for a ticket with this state. */
  show(
    { request, response }: RequestContext,
    state: T,
    page: (ticket: string) => Page,
    options?: PageOptions,
  ): void {
    const browser = browserOf(request);
    response.appendHeader('Set-Cookie', browser.cookie);
    writePage(response, page(this.#tickets.seal(state, browser.id)), options);
  }

  /** Undefined for another form. */
  submitted({ request }: RequestContext, form: Form): SubmittedForm<T> | undefined {
    const ticket = form.get('ticket') ?? '';
    const opened = this.#tickets.open(ticket, browserIDIn(request) ?? '');
    return opened && { ...opened, ticket };
  }
}

/** The browser id. */
const COOKIE = new HostCookie('sign-in', '[\\w-]{22}');

interface Browser {
  readonly id: string;
  /** Value of `Set-Cookie`. */
  readonly cookie: string;
}

/** The browser id from the cookie, or a new random one. */
export function browserOf(request: IncomingMessage): Browser {
  const id = browserIDIn(request) ?? randomBytes(16).toString('base64url');
  return { id, cookie: COOKIE.header(id) };
}

/** Returns undefined for a browser without the cookie: on its first visit, or when it rejects cookies. */
export function browserIDIn(request: IncomingMessage): string | undefined {
  return COOKIE.read(request);
}

/** Whether the browser reports a cross-site form. Old browsers send no Sec-Fetch-Site; the ticket protects them. */
export function isCrossSite(request: IncomingMessage): boolean {
  const site = request.headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin';
}
