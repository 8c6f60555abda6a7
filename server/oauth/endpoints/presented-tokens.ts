// Validates tokens in requests to the OAuth endpoints, such as tokens to introspect or revoke.

import type { IncomingMessage } from 'node:http';
import { compactVerify, errors } from 'jose';
import { isUnauthorized } from '../../../apis/meta/v1/errors.ts';
import { OAuthError } from '../../../apis/oauth/oauth-error.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import { mayBeStale } from '../codes/session-code.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { SIGNING_ALGORITHMS } from '../keys/key-set.ts';
import { type SessionStore, type StoredSession, sameHash } from '../sessions/session.ts';
import { parseRefreshToken } from '../sessions/session-creator.ts';
import { isSessionID } from '../sessions/session-object.ts';
import {
  ACCESS_TOKEN_TYPE,
  type AccessTokenClaims,
  type AccessTokenVerifier,
  ID_TOKEN_TYPE,
  readUnverified,
} from '../tokens/access-token.ts';

/** The claims of an access token. Throws OAuthError 401 for an invalid token (RFC 6750, 3.1). */
export async function accessTokenClaims(
  token: string,
  verifier: AccessTokenVerifier,
  call: CallContext,
): Promise<AccessTokenClaims> {
  const claims = await Promise.resolve(verifier.verify(token, call)).catch((error: unknown) => {
    throw isUnauthorized(error) ? invalidToken(error) : error;
  });
  if (!claims) throw invalidToken(new Error('the token is of another issuer'));
  return claims;
}

/** The bearer token in the Authorization header, unverified. */
export function bearerToken(request: IncomingMessage): string | undefined {
  // The authentication filter has removed it from `headers`.
  const header = request.headersDistinct['authorization']?.[0] ?? '';
  return /^bearer +([\w.~+/=-]+)$/i.exec(header)?.[1];
}

function invalidToken(cause: unknown): OAuthError {
  return new OAuthError(401, 'invalid_token', 'the access token is not valid', {
    challenge: 'Bearer realm="oauth", error="invalid_token"',
    cause,
  });
}

/** A valid token that is presented for introspection or revocation. */
export type PresentedToken =
  | { readonly kind: 'access'; readonly claims: AccessTokenClaims }
  | {
      readonly kind: 'refresh';
      readonly session: StoredSession;
      /** False for a refresh token that was already used. */
      readonly current: boolean;
    };

interface PresentedTokensOptions {
  readonly verifier: AccessTokenVerifier;
  readonly sessions: Pick<SessionStore, 'get' | 'read' | 'fresh'>;
}

export class PresentedTokens {
  readonly #options: PresentedTokensOptions;

  constructor(options: PresentedTokensOptions) {
    this.#options = options;
  }

  /**
   * Undefined for an invalid token: foreign, expired, revoked or malformed. Ignores `token_type_hint`: the token itself
   * shows its type. Throws ServiceUnavailable (StatusError) when validity cannot be determined.
   */
  async find(text: string, call: CallContext): Promise<PresentedToken | undefined> {
    if (text.startsWith('prt_')) return this.#refresh(text, call);
    try {
      const claims = await this.#options.verifier.verify(text, call);
      return claims && { kind: 'access', claims };
    } catch (error) {
      if (isUnauthorized(error)) return undefined;
      throw error;
    }
  }

  async #refresh(text: string, call: CallContext): Promise<PresentedToken | undefined> {
    const token = parseRefreshToken(text);
    if (!token) return undefined;
    const { sessions } = this.#options;
    const cached = sessions.fresh ? sessions.get(token.sessionID) : undefined;
    if (cached && sameHash(cached.refreshHash, token.hash)) {
      return { kind: 'refresh', session: cached, current: true };
    }
    if (cached && !mayBeStale(cached, token)) return undefined;
    // The cache may lag behind a rotation at another replica.
    const session = await sessions.read(token.sessionID, call);
    if (!session || !sameHash(session.familyHash, token.familyHash)) return undefined;
    return { kind: 'refresh', session, current: sameHash(session.refreshHash, token.hash) };
  }
}

/** Session, client and user of a token. */
export interface TokenOwner {
  readonly session: string;
  readonly clientID: string;
  readonly user: string;
}

/** The sign-in that a token names. */
export interface HintedSignIn extends TokenOwner {
  readonly userUID: unknown;
  /** When the user was authenticated, in seconds since the epoch. */
  readonly authTime: unknown;
}

interface IDTokenHintsOptions {
  readonly keys: Pick<KeyRing, 'hintVerification'>;
  readonly issuer: () => string;
}

/**
 * Verification of tokens that only name a session. Expired tokens are accepted (OpenID Connect RP-Initiated Logout, 2), so
 * that a late sign-out still terminates the session.
 */
export class IDTokenHints {
  readonly #options: IDTokenHintsOptions;

  constructor(options: IDTokenHintsOptions) {
    this.#options = options;
  }

  /** `id_token_hint`. Undefined unless one of our keys signed it as an ID token. */
  async read(token: string): Promise<HintedSignIn | undefined> {
    const payload = await this.#verified(token, ID_TOKEN_TYPE);
    return payload && ownerIn(payload, payload['aud']);
  }

  /** Undefined unless one of our keys signed it as an access token. */
  async readAccessToken(token: string): Promise<HintedSignIn | undefined> {
    const payload = await this.#verified(token, ACCESS_TOKEN_TYPE);
    return payload && ownerIn(payload, payload['client_id']);
  }

  async #verified(token: string, type: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const { header, payload } = readUnverified(token) ?? {};
    if (!header || !payload || header['typ'] !== type) return undefined;
    const { kid, alg } = header;
    if (typeof kid !== 'string' || typeof alg !== 'string') return undefined;
    const key = this.#options.keys.hintVerification(kid, alg);
    if (!key || payload['iss'] !== this.#options.issuer()) return undefined;
    try {
      await compactVerify(token, key, { algorithms: [...SIGNING_ALGORITHMS] });
      return payload;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }
}

function ownerIn(
  { sid: session, sub: user, uid: userUID, auth_time: authTime }: Readonly<Record<string, unknown>>,
  clientID: unknown,
): HintedSignIn | undefined {
  return typeof session === 'string' &&
    isSessionID(session) &&
    typeof clientID === 'string' &&
    typeof user === 'string'
    ? { session, clientID, user, userUID, authTime }
    : undefined;
}
