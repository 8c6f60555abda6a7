import { hash } from 'node:crypto';
import { ExpiringMap, type ExpiringMapOptions } from '../../memory/expiring-map.ts';
import type { AccessTokenClaims } from './access-token.ts';

/**
 * Tokens whose signature was verified a moment ago, by their hash: what lies in memory opens nothing. Says nothing about
 * whether a token still counts.
 */
export class VerifiedTokens {
  readonly #claims: ExpiringMap<string, AccessTokenClaims>;

  constructor(options: ExpiringMapOptions) {
    this.#claims = new ExpiringMap(options);
  }

  get(token: string): AccessTokenClaims | undefined {
    return this.#claims.size === 0 ? undefined : this.#claims.get(keyOf(token));
  }

  add(token: string, claims: AccessTokenClaims): void {
    this.#claims.set(keyOf(token), claims);
  }
}

function keyOf(token: string): string {
  return hash('sha256', token, 'base64');
}
