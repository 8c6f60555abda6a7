// The key ring: signing keys and MAC keys of the token handler. Implemented by secret-key-ring.ts.
import type { CryptoKey, JWK } from 'jose';

/** An ES256 key, identified by its RFC 7638 thumbprint. The private part is not accessible. */
export interface SigningKey {
  readonly kid: string;
  /** Signature as R and S (RFC 7518, 3.4). */
  sign(input: string): Buffer;
}

/** The current keys. Rotation changes them. */
export interface KeyRing {
  /** False until the keys are loaded. */
  readonly ready: boolean;
  /** The active key. Throws ServiceUnavailable while there is none. */
  signing(): SigningKey;
  /** The public key with exactly this kid: next, active or retired. */
  verification(kid: string): CryptoKey | undefined;
  /**
   * As `verification`, for ID tokens as `id_token_hint` only: they may be as old as their session, so keys that are no
   * longer published are included.
   */
  hintVerification(kid: string): CryptoKey | undefined;
  /** The JWK Set of `/oauth/keys`: public members only. */
  jwks(): { readonly keys: readonly JWK[] };
  /** HMAC-SHA-256 under the newest MAC key: `<kid>:<hex>`. */
  mac(purpose: string, message: string): string;
  /** HMAC-SHA-256 under each MAC key, newest first. Throws ServiceUnavailable while there is none. */
  macs(purpose: string, message: string): readonly [Buffer, ...Buffer[]];
  /** Constant time; true for a valid MAC under any current MAC key. */
  checkMac(purpose: string, message: string, mac: string): boolean;
}

/** A source of `count` random bytes. */
export type RandomBytes = (count: number) => Buffer;
