// Tickets: JSON with a MAC, an expiry and a holder. They carry state through a browser, so that no replica stores it; their
// content is readable.
import { hash } from 'node:crypto';
import type { KeyRing } from './key-ring.ts';

export interface TicketOptions {
  readonly keys: Pick<KeyRing, 'mac' | 'checkMac'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

/** A ticket with a valid MAC. With a `rejection`, its content is only a hint for the error message. */
export interface OpenedTicket<T> {
  readonly content: T;
  /** Ms since the epoch. */
  readonly issuedAt: number;
  readonly rejection: TicketRejection | undefined;
}

export type TicketRejection = 'expired' | 'other holder';

interface Body<T> {
  readonly content: T;
  readonly notAfter: number;
  /** Digest: the holder may be a secret, and a ticket is part of pages and URLs. */
  readonly holder: string;
}

/** Every replica accepts the tickets of the other replicas. */
export class Tickets<T> {
  readonly #purpose: string;
  readonly #lifetimeMs: number;
  readonly #options: TicketOptions;

  /** A ticket is valid only for the purpose that it was issued for. */
  constructor(purpose: string, lifetimeMs: number, options: TicketOptions) {
    this.#purpose = purpose;
    this.#lifetimeMs = lifetimeMs;
    this.#options = options;
  }

  /** Throws ServiceUnavailable (StatusError) while there is no key. */
  seal(content: T, holder: string): string {
    const { keys, now } = this.#options;
    const body = { content, notAfter: now() + this.#lifetimeMs, holder: digest(holder) } satisfies Body<T>;
    const payload = Buffer.from(JSON.stringify(body)).toString('base64url');
    return `${payload}.${keys.mac(this.#purpose, payload)}`;
  }

  /** Returns undefined for a ticket without a valid MAC for this purpose. */
  open(ticket: string, holder: string): OpenedTicket<T> | undefined {
    const dot = ticket.indexOf('.');
    if (dot < 0) return undefined;
    const payload = ticket.slice(0, dot);
    const { keys, now } = this.#options;
    if (!keys.checkMac(this.#purpose, payload, ticket.slice(dot + 1))) return undefined;
    // The MAC proves that `seal` for the same purpose has written it.
    const body = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Body<T>;
    const { content, notAfter } = body;
    const issuedAt = notAfter - this.#lifetimeMs;
    if (body.holder !== digest(holder)) return { content, issuedAt, rejection: 'other holder' };
    return { content, issuedAt, rejection: now() >= notAfter ? 'expired' : undefined };
  }
}

function digest(holder: string): string {
  return hash('sha256', holder, 'base64url');
}
