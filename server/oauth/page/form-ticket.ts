// What a form sends back besides what was typed: which request it belongs to and how far that has come, under a MAC that
// covers the browser and the step. It also protects against cross-site request forgery, and lets any replica accept a
// form that another one made.
import type { KeyRing } from '../keys/key-ring.ts';

export interface TicketOptions {
  readonly keys: Pick<KeyRing, 'mac' | 'checkMac'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** `expired` when it is genuine but too old: its content may be shown again, but not used. */
export interface OpenedTicket<T> {
  readonly content: T;
  readonly expired: boolean;
}

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
    const body = { content, notAfter: this.#options.now() + this.#lifetimeMs } satisfies Body<T>;
    const payload = Buffer.from(JSON.stringify(body)).toString('base64url');
    return `${payload}.${this.#options.keys.mac(this.#purpose(), `${browser}.${payload}`)}`;
  }

  /** Undefined for a ticket that was not made here, for this step and this browser. */
  open(ticket: string, browser: string): OpenedTicket<T> | undefined {
    const dot = ticket.indexOf('.');
    if (dot < 0) return undefined;
    const payload = ticket.slice(0, dot);
    const { keys, now } = this.#options;
    if (!keys.checkMac(this.#purpose(), `${browser}.${payload}`, ticket.slice(dot + 1))) return undefined;
    // Ours, by its MAC, and made by `seal` of the same step.
    const { content, notAfter } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Body<T>;
    return { content, expired: now() >= notAfter };
  }

  #purpose(): string {
    return `form ${this.#step}`;
  }
}

interface Body<T> {
  readonly content: T;
  readonly notAfter: number;
}
