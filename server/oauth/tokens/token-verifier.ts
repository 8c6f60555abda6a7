// Tells whether a token is an access token of ours that counts: by its signature and claims once (RFC 8725), by its
// expiry and what it stands on at every use.
import { errors, jwtVerify } from 'jose';
import { newServiceUnavailable, newUnauthorized } from '../../../apis/meta/v1/errors.ts';
import type { CallContext } from '../../cluster/call-context.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { AccessTokenClaims, AccessTokenVerifier } from './access-token.ts';
import type { Liveness } from './liveness.ts';
import { readClaims, readUnverified, type UnverifiedToken } from './token-shape.ts';
import { VerifiedTokens } from './verified-tokens.ts';

export interface TokenVerifierOptions {
  readonly keys: Pick<KeyRing, 'ready' | 'verification'> & {
    /** Asks for keys that we may not have heard of yet; bounded. */
    reread?(): Promise<void>;
  };
  readonly issuer: () => string;
  readonly audience: string;
  readonly liveness: Pick<Liveness, 'check'>;
  /** Tokens that are remembered as verified; 0 turns that off. 10,000 when none is given. */
  readonly cacheSize?: number;
  /** Ms since the epoch. */
  readonly now?: () => number;
}

/** How long a signature is not looked at again, in ms. */
const REMEMBERED_MS = 30_000;
const TYPE = 'at+jwt';
/** Our own secrets that are not access tokens. They never go into a TokenReview, since the cluster may log it. */
const OPAQUE = /^p(?:rt|ac|dc)_/;

export class TokenVerifier implements AccessTokenVerifier {
  readonly #options: TokenVerifierOptions;
  readonly #now: () => number;
  readonly #verified: VerifiedTokens;

  constructor(options: TokenVerifierOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#verified = new VerifiedTokens({
      most: options.cacheSize ?? 10_000,
      ttlMs: REMEMBERED_MS,
      now: this.#now,
    });
  }

  verify(
    token: string,
    context: CallContext,
  ): Promise<AccessTokenClaims | undefined> | AccessTokenClaims | undefined {
    const remembered = this.#verified.get(token);
    if (remembered) return this.#alive(remembered, context);
    if (OPAQUE.test(token)) throw newUnauthorized(new Error('a refresh token or a code is no access token'));
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
      algorithms: ['ES256'],
      typ: TYPE,
      issuer: issuer(),
      audience,
      // As kube-apiserver does it, which gives expiry no leeway: both say the same at any moment.
      clockTolerance: 0,
      currentDate: new Date(this.#now()),
    }).then(
      (verified) => verified.payload,
      (error: unknown) => {
        throw error instanceof errors.JOSEError ? newUnauthorized(error) : error;
      },
    );
    const claims = readClaims(payload);
    await this.#alive(claims, context);
    this.#verified.add(token, claims);
    return claims;
  }

  /** By exactly its name; whatever else a header offers (`jku`, `jwk`, `x5u`) is not looked at. */
  async #key(kid: unknown): Promise<NonNullable<ReturnType<KeyRing['verification']>>> {
    const { keys } = this.#options;
    if (!keys.ready) throw newServiceUnavailable('there are no signing keys yet');
    if (typeof kid !== 'string') throw newUnauthorized(new Error('the token names no key'));
    let key = keys.verification(kid);
    if (!key) {
      await keys.reread?.();
      key = keys.verification(kid);
    }
    if (!key) throw newUnauthorized(new Error('the token names a key that is not ours'));
    return key;
  }

  #alive(claims: AccessTokenClaims, context: CallContext): Promise<AccessTokenClaims> | AccessTokenClaims {
    if (this.#now() >= claims.exp * 1000) throw newUnauthorized(new Error('the token has expired'));
    const { sid, sub: user, uid, client_id: clientID } = claims;
    const checking = this.#options.liveness.check({ sid, user, uid, clientID }, context);
    return checking ? checking.then(() => claims) : claims;
  }
}
