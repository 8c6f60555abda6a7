import type { CryptoKey, JWK } from 'jose';

/** Key of ES256, by its RFC 7638 thumbprint. The private part stays inside. */
export interface SigningKey {
  readonly kid: string;
  /** R and S of the signature, as RFC 7518, 3.4 has them. */
  sign(input: string): Buffer;
}

/** The keys as they are now; they change when they are rotated. From a Secret that all replicas follow. */
export interface KeyRing {
  /** False until the Secret has been read or made. */
  readonly ready: boolean;
  /** The active key. Throws ServiceUnavailable while there is none. */
  signing(): SigningKey;
  /** Public key of exactly this kid: next, active or retired. */
  verification(kid: string): CryptoKey | undefined;
  /**
   * The same for id tokens that come as hints, which may be as old as their session: of keys, too, that are published no
   * more. Proves nothing else.
   */
  hintVerification(kid: string): CryptoKey | undefined;
  /** What `/oauth/keys` publishes: public members only. */
  jwks(): { readonly keys: readonly JWK[] };
  /** HMAC-SHA-256 under the newest MAC key, hex with the key's id in front: `<id>:<hex>`. */
  mac(purpose: string, message: string): string;
  /** HMAC-SHA-256 under each MAC key that is kept, the newest first. Throws ServiceUnavailable while there is none. */
  macs(purpose: string, message: string): readonly [Buffer, ...Buffer[]];
  /** Constant time; true under any MAC key that is still kept. */
  checkMac(purpose: string, message: string, mac: string): boolean;
}
