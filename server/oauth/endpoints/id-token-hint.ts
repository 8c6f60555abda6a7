import { compactVerify, errors } from 'jose';
import type { KeyRing } from '../keys/key-ring.ts';
import { isSessionID } from '../sessions/session-ids.ts';
import { readUnverified } from '../tokens/token-shape.ts';
import type { Login } from './end-session.ts';

export interface IDTokenHintsOptions {
  readonly keys: Pick<KeyRing, 'hintVerification'>;
  readonly issuer: () => string;
}

/**
 * Id tokens as hints of who wants to sign out. Expired ones are taken too (OpenID Connect RP-Initiated Logout, 2):
 * who signs out late should still be signed out.
 */
export class IDTokenHints {
  readonly #options: IDTokenHintsOptions;

  constructor(options: IDTokenHintsOptions) {
    this.#options = options;
  }

  /** Undefined when no key that we still know signed it as our id token. */
  async read(token: string): Promise<Login | undefined> {
    const { header, payload } = readUnverified(token) ?? {};
    if (!header || !payload || header['typ'] !== 'JWT' || typeof header['kid'] !== 'string') return undefined;
    const key = this.#options.keys.hintVerification(header['kid']);
    if (!key || payload['iss'] !== this.#options.issuer()) return undefined;
    try {
      await compactVerify(token, key, { algorithms: ['ES256'] });
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
    const { sid: session, aud: clientID, sub: user } = payload;
    return typeof session === 'string' &&
      isSessionID(session) &&
      typeof clientID === 'string' &&
      typeof user === 'string'
      ? { session, clientID, user }
      : undefined;
  }
}
