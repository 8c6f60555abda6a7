// What a form sends back besides what was typed: which request it belongs to, how far that has come, and which browser
// it was made for, under a MAC. It also protects against cross-site request forgery, and lets any replica accept a form
// that another one made.
import { hash } from 'node:crypto';
import type { KeyRing } from '../keys/key-ring.ts';

export interface TicketOptions {
  readonly keys: Pick<KeyRing, 'mac' | 'checkMac'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** A genuine one. With a fault its content may be shown again, but not used. */
export interface OpenedTicket<T> {
  readonly content: T;
  readonly fault: TicketFault | undefined;
}

export type TicketFault = 'expired' | 'other browser';

export class FormTickets<T> {
  readonly #step: string;
  readonly #lifetimeMs: number;
  readonly #options: TicketOptions;

  constructor(step: string, lifetimeMs: number, options: TicketOptions) {
    this.#step = step;
    this.#lifetimeMs = lifetimeMs;
    this.#options = options;
  }

  /** Throws ServiceUnavailable (StatusError) while there is no key. */
  seal(content: T, browser: string): string {
    const { keys, now } = this.#options;
    const body = { content, notAfter: now() + this.#lifetimeMs, browser: digest(browser) } satisfies Body<T>;
    const payload = Buffer.from(JSON.stringify(body)).toString('base64url');
    return `${payload}.${keys.mac(this.#purpose(), payload)}`;
  }

  /** Undefined for a ticket that was not made here, for this step. */
  open(ticket: string, browser: string): OpenedTicket<T> | undefined {
    const dot = ticket.indexOf('.');
    if (dot < 0) return undefined;
    const payload = ticket.slice(0, dot);
    const { keys, now } = this.#options;
    if (!keys.checkMac(this.#purpose(), payload, ticket.slice(dot + 1))) return undefined;
    // Ours, by its MAC, and made by `seal` of the same step.
    const body = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Body<T>;
    const { content } = body;
    if (body.browser !== digest(browser)) return { content, fault: 'other browser' };
    return { content, fault: now() >= body.notAfter ? 'expired' : undefined };
  }

  #purpose(): string {
    return `form ${this.#step}`;
  }
}

interface Body<T> {
  readonly content: T;
  readonly notAfter: number;
  /** A digest, for the ticket stands on the page, where the id itself must not. */
  readonly browser: string;
}

function digest(browser: string): string {
  return hash('sha256', browser, 'base64url');
}
