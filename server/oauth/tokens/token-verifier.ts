// Verifies access tokens (RFC 8725), with a cache of verified tokens. Expiry and revocation are checked at every
// use.

import { hash } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { newServiceUnavailable, newUnauthorized } from '../../../apis/meta/v1/errors.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import {
  ACCESS_TOKEN_TYPE,
  type AccessTokenClaims,
  type AccessTokenVerifier,
  readClaims,
  readUnverified,
  type UnverifiedToken,
} from './access-token.ts';
import type { RevocationCheck } from './revocation-check.ts';

export interface TokenVerifierOptions {
  readonly keys: Pick<KeyRing, 'ready' | 'verification'> & {
    /** Re-reads the keys from the cluster; rate-limited. */
    reread?(): Promise<void>;
  };
  readonly issuer: () => string;
  readonly audience: string;
  readonly revocation: Pick<RevocationCheck, 'check'>;
  /** Ms since the epoch. */
  readonly now?: () => number;
}

/** Maximum number of tokens whose signature is not verified again. It bounds the memory. */
export const VERIFIED_TOKENS = 10_000;
/** TTL of a successful signature check. */
const CACHE_TTL_MS = 30_000;
/** Of access tokens. The keys of RS256 sign ID tokens only. */
const ALGORITHM = 'ES256';
/** Our refresh tokens and codes. They never go into a TokenReview, because the cluster may log it. */
const OPAQUE = /^p(?:rt|ac|dc)_/;

export class TokenVerifier implements AccessTokenVerifier {
  readonly #options: TokenVerifierOptions;
  readonly #now: () => number;
  /** Claims by SHA-256 of the token, so that a memory dump contains no usable token. */
  readonly #verified: LRUCache<string, AccessTokenClaims>;

  constructor(options: TokenVerifierOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#verified = new LRUCache({
      max: VERIFIED_TOKENS,
      ttl: CACHE_TTL_MS,
      ttlResolution: 0,
      perf: { now: this.#now },
    });
  }

  verify(
    token: string,
    context: CallContext,
  ): Promise<AccessTokenClaims | undefined> | AccessTokenClaims | undefined {
    const cached = this.#verified.size === 0 ? undefined : this.#verified.get(digest(token));
    if (cached) return this.#checkValid(cached, context);
    if (OPAQUE.test(token))
      throw newUnauthorized(new Error('a refresh token or code is not an access token'));
    const unverified = readUnverified(token);
    if (unverified?.payload['iss'] !== this.#options.issuer()) return undefined;
    return this.#verify(token, unverified, context);
  }

  async #verify(
    token: string,
    { header }: UnverifiedToken,
    context: CallContext,
  ): Promise<AccessTokenClaims> {
    const { issuer, audience } = this.#options;
    const key = await this.#key(header['kid']);
    const payload = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      typ: ACCESS_TOKEN_TYPE,
      issuer: issuer(),
      audience,
      // kube-apiserver also allows no leeway for the expiry, so both accept a token for the same time.
      clockTolerance: 0,
      currentDate: new Date(this.#now()),
    }).then(
      (verified) => verified.payload,
      (error: unknown) => {
        throw error instanceof errors.JOSEError ? newUnauthorized(error) : error;
      },
    );
    const claims = readClaims(payload);
    await this.#checkValid(claims, context);
    this.#verified.set(digest(token), claims);
    return claims;
  }

  /** The key with exactly this kid. The header parameters `jku`, `jwk` and `x5u` are ignored. */
  async #key(kid: unknown): Promise<NonNullable<ReturnType<KeyRing['verification']>>> {
    const { keys } = this.#options;
    if (!keys.ready) throw newServiceUnavailable('the signing keys are not loaded yet');
    if (typeof kid !== 'string') throw newUnauthorized(new Error('the token has no kid'));
    let key = keys.verification(kid, ALGORITHM);
    if (!key) {
      await keys.reread?.();
      key = keys.verification(kid, ALGORITHM);
    }
    if (!key) throw newUnauthorized(new Error('the kid of the token is unknown'));
    return key;
  }

  #checkValid(
    claims: AccessTokenClaims,
    context: CallContext,
  ): Promise<AccessTokenClaims> | AccessTokenClaims {
    if (this.#now() >= claims.exp * 1000) throw newUnauthorized(new Error('the token has expired'));
    const { sid, sub: user, uid, client_id: clientID } = claims;
    const checking = this.#options.revocation.check({ sid, user, uid, clientID }, context);
    return checking ? checking.then(() => claims) : claims;
  }
}

function digest(token: string): string {
  return hash('sha256', token, 'base64');
}
