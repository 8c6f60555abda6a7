import { hash } from 'node:crypto';
import type { AccessTokenClaims } from './access-token.ts';

interface Entry {
  readonly claims: AccessTokenClaims;
  /** Ms since the epoch. */
  readonly until: number;
}

/**
 * Tokens whose signature was verified a moment ago, by their hash: what lies in memory opens nothing. Bounded in
 * number and in time; says nothing about whether a token still counts.
 */
export class VerifiedTokens {
  readonly #size: number;
  readonly #ttlMs: number;
  readonly #entries = new Map<string, Entry>();

  constructor(size: number, ttlMs: number) {
    this.#size = size;
    this.#ttlMs = ttlMs;
  }

  get(token: string, now: number): AccessTokenClaims | undefined {
    if (this.#entries.size === 0) return undefined;
    const key = keyOf(token);
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (now < entry.until) return entry.claims;
    this.#entries.delete(key);
    return undefined;
  }

  add(token: string, claims: AccessTokenClaims, now: number): void {
    if (this.#size === 0) return;
    if (this.#entries.size >= this.#size) {
      // The oldest: all live equally long, so it is also the next to go.
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
    this.#entries.set(keyOf(token), { claims, until: now + this.#ttlMs });
  }
}

function keyOf(token: string): string {
  return hash('sha256', token, 'base64');
}
