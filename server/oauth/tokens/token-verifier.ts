// Verifies tokens of one kind (RFC 8725), with a cache of verified tokens. Expiry and revocation are checked at every
// use.

import { hash } from 'node:crypto';
import { type CryptoKey, errors, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { newServiceUnavailable, newUnauthorized } from '../../../apis/meta/v1/errors.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { SigningAlgorithm } from '../keys/key-set.ts';
import { readUnverified, type TokenClaims, type UnverifiedToken } from './access-token.ts';
import type { RevocationCheck } from './revocation-check.ts';

export interface TokenKind<Claims extends TokenClaims> {
  /** Header parameter `typ`. */
  readonly typ: string;
  /** The `typ` of tokens of the other kind, which a verifier of this kind ignores. */
  readonly otherTyp?: string;
  readonly algorithms: readonly SigningAlgorithm[];
  /** Accepted `aud`; undefined if `read` checks it. */
  readonly audience?: string;
  /** The claims of a payload whose signature, issuer and expiry are valid. Throws Unauthorized. */
  read(payload: Readonly<Record<string, unknown>>): Claims;
}

export interface TokenVerifierOptions<Claims extends TokenClaims> {
  readonly kind: TokenKind<Claims>;
  readonly keys: Pick<KeyRing, 'ready' | 'verification'> & {
    /** Re-reads the keys from the cluster; rate-limited. */
    reread?(): Promise<void>;
  };
  readonly issuer: () => string;
  readonly revocation: Pick<RevocationCheck, 'check'>;
  /** Ms since the epoch. */
  readonly now?: () => number;
}

/** Maximum number of tokens whose signature is not verified again. It bounds the memory. */
export const VERIFIED_TOKENS = 10_000;
/** TTL of a successful signature check. */
const CACHE_TTL_MS = 30_000;
/** Our refresh tokens and codes. They never go into a TokenReview, because the cluster may log it. */
const OPAQUE = /^p(?:rt|ac|dc)_/;

export class TokenVerifier<Claims extends TokenClaims> {
  readonly #options: TokenVerifierOptions<Claims>;
  readonly #now: () => number;
  /** Claims by SHA-256 of the token, so that a memory dump contains no usable token. */
  readonly #verified: LRUCache<string, Claims>;

  constructor(options: TokenVerifierOptions<Claims>) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#verified = new LRUCache({
      max: VERIFIED_TOKENS,
      ttl: CACHE_TTL_MS,
      ttlResolution: 0,
      perf: { now: this.#now },
    });
  }

  /** As AccessTokenVerifier. Also returns undefined for a token of the other kind. */
  verify(token: string, context: CallContext): Promise<Claims | undefined> | Claims | undefined {
    const cached = this.#verified.size === 0 ? undefined : this.#verified.get(digest(token));
    if (cached) return this.#checkValid(cached, context);
    if (OPAQUE.test(token))
      throw newUnauthorized(new Error('a refresh token or code is not an access token'));
    const unverified = readUnverified(token);
    const { issuer, kind } = this.#options;
    if (unverified?.payload['iss'] !== issuer()) return undefined;
    if (kind.otherTyp !== undefined && unverified.header['typ'] === kind.otherTyp) return undefined;
    return this.#verify(token, unverified, context);
  }

  async #verify(token: string, { header }: UnverifiedToken, context: CallContext): Promise<Claims> {
    const { issuer, kind } = this.#options;
    const { key, algorithm } = await this.#key(header);
    const payload = await jwtVerify(token, key, {
      algorithms: [algorithm],
      typ: kind.typ,
      issuer: issuer(),
      ...(kind.audience === undefined ? {} : { audience: kind.audience }),
      // kube-apiserver also allows no leeway for the expiry, so both accept a token for the same time.
      clockTolerance: 0,
      currentDate: new Date(this.#now()),
    }).then(
      (verified) => verified.payload,
      (error: unknown) => {
        throw error instanceof errors.JOSEError ? newUnauthorized(error) : error;
      },
    );
    const claims = kind.read(payload);
    await this.#checkValid(claims, context);
    this.#verified.set(digest(token), claims);
    return claims;
  }

  /** The key with exactly this kid. The header parameters `jku`, `jwk` and `x5u` are ignored. */
  async #key({ kid, alg }: UnverifiedToken['header']): Promise<{ key: CryptoKey; algorithm: string }> {
    const { keys, kind } = this.#options;
    if (!keys.ready) throw newServiceUnavailable('the signing keys are not loaded yet');
    if (typeof kid !== 'string') throw newUnauthorized(new Error('the token has no kid'));
    const algorithm = kind.algorithms.find((known) => known === alg);
    if (!algorithm) throw newUnauthorized(new Error('the algorithm of the token is not accepted'));
    let key = keys.verification(kid, algorithm);
    if (!key) {
      await keys.reread?.();
      key = keys.verification(kid, algorithm);
    }
    if (!key) throw newUnauthorized(new Error('the kid of the token is unknown'));
    return { key, algorithm };
  }

  #checkValid(claims: Claims, context: CallContext): Promise<Claims> | Claims {
    if (this.#now() >= claims.exp * 1000) throw newUnauthorized(new Error('the token has expired'));
    const { sid, sub: user, uid, client_id: clientID } = claims;
    const checking = this.#options.revocation.check({ sid, user, uid, clientID }, context);
    return checking ? checking.then(() => claims) : claims;
  }
}

function digest(token: string): string {
  return hash('sha256', token, 'base64');
}
