import { isUnauthorized } from '../../../apis/meta/v1/errors.ts';
import { mayBeBehind } from '../codes/session-code.ts';
import { parseRefreshToken, sameHash } from '../sessions/refresh-token.ts';
import type { SessionStore, StoredSession } from '../sessions/session.ts';
import type { AccessTokenClaims, AccessTokenVerifier } from '../tokens/access-token.ts';

/** A token of ours that is presented for introspection or revocation. */
export type PresentedToken =
  | { readonly kind: 'access'; readonly claims: AccessTokenClaims }
  | {
      readonly kind: 'refresh';
      readonly session: StoredSession;
      /** False for one that was used already. */
      readonly current: boolean;
    };

export interface PresentedTokensOptions {
  readonly verifier: AccessTokenVerifier;
  readonly sessions: Pick<SessionStore, 'get' | 'read' | 'fresh'>;
}

export class PresentedTokens {
  readonly #options: PresentedTokensOptions;

  constructor(options: PresentedTokensOptions) {
    this.#options = options;
  }

  /**
   * Undefined for an invalid token: foreign, expired, revoked, made up. Its kind is read from the token itself, whatever
   * hint came with it. Throws ServiceUnavailable (StatusError) when it cannot be checked now.
   */
  async find(text: string, signal: AbortSignal): Promise<PresentedToken | undefined> {
    if (text.startsWith('prt_')) return this.#refresh(text, signal);
    try {
      const claims = await this.#options.verifier.verify(text, { signal });
      return claims && { kind: 'access', claims };
    } catch (error) {
      if (isUnauthorized(error)) return undefined;
      throw error;
    }
  }

  async #refresh(text: string, signal: AbortSignal): Promise<PresentedToken | undefined> {
    const token = parseRefreshToken(text);
    if (!token) return undefined;
    const { sessions } = this.#options;
    const cached = sessions.fresh ? sessions.get(token.sessionID) : undefined;
    if (cached && sameHash(cached.refreshHash, token.hash)) {
      return { kind: 'refresh', session: cached, current: true };
    }
    if (cached && !mayBeBehind(cached, token)) return undefined;
    // The cache may be behind a rotation at another replica.
    const session = await sessions.read(token.sessionID, signal);
    if (!session || !sameHash(session.familyHash, token.familyHash)) return undefined;
    return { kind: 'refresh', session, current: sameHash(session.refreshHash, token.hash) };
  }
}
