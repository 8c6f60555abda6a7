// Interface of the key ring: signing keys and MAC keys of the authorization server. secret-key-ring.ts reloads the
// keys after a rotation.
import {
  createHmac,
  createPrivateKey,
  createSecretKey,
  type KeyObject,
  sign,
  timingSafeEqual,
} from 'node:crypto';
import { type CryptoKey, importJWK, type JWK } from 'jose';
import { newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { activeKey, type KeyRecord, type KeySet } from './key-set.ts';

/** An ES256 key, identified by its RFC 7638 thumbprint. The private part is not accessible. */
export interface SigningKey {
  readonly kid: string;
  /** Signature as R and S (RFC 7518, 3.4). */
  sign(input: string): Buffer;
}

/** The current keys of the server, which change at each rotation. */
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

const ALGORITHM = 'ES256';

interface Material {
  readonly signing: SigningKey;
  readonly verification: ReadonlyMap<string, CryptoKey>;
  readonly published: readonly JWK[];
  readonly past: ReadonlyMap<string, CryptoKey>;
  readonly macKeys: ReadonlyMap<string, KeyObject>;
}

/** The imported keys of one key set. Private keys cannot be exported. */
export class ImportedKeys implements KeyRing {
  readonly ready = true;
  readonly #material: Material;

  private constructor(material: Material) {
    this.#material = material;
  }

  /** Throws for an unusable key. */
  static async from(set: KeySet): Promise<ImportedKeys> {
    const active = activeKey(set);
    if (!active?.jwk) throw new Error('the key set has no active key');
    const published = set.keys.flatMap((key) => (key.jwk ? [publicPart(key, key.jwk)] : []));
    const past = set.keys.flatMap((key) => (key.pastJwk ? [publicPart(key, key.pastJwk)] : []));
    return new ImportedKeys({
      signing: await signingKey(active.kid, active.jwk),
      verification: await importedByID(published),
      published,
      past: await importedByID(past),
      // Imported once: createHmac would import the bytes for each message, which takes four times as long as the MAC.
      macKeys: new Map(
        set.keys.map(({ kid, macKey }) => [kid, createSecretKey(Buffer.from(macKey, 'base64url'))]),
      ),
    });
  }

  signing(): SigningKey {
    return this.#material.signing;
  }

  verification(kid: string): CryptoKey | undefined {
    return this.#material.verification.get(kid);
  }

  hintVerification(kid: string): CryptoKey | undefined {
    return this.verification(kid) ?? this.#material.past.get(kid);
  }

  jwks(): { readonly keys: readonly JWK[] } {
    return { keys: this.#material.published };
  }

  mac(purpose: string, message: string): string {
    const { kid } = this.#material.signing;
    return `${kid}:${digest(this.#newest(), purpose, message).toString('hex')}`;
  }

  macs(purpose: string, message: string): readonly [Buffer, ...Buffer[]] {
    const newest = this.#newest();
    const others = [...this.#material.macKeys.values()].filter((key) => key !== newest);
    return [digest(newest, purpose, message), ...others.map((key) => digest(key, purpose, message))];
  }

  checkMac(purpose: string, message: string, mac: string): boolean {
    const [, kid = '', hex = ''] = /^([\w-]{43}):([0-9a-f]{64})$/.exec(mac) ?? [];
    const key = this.#material.macKeys.get(kid);
    return key !== undefined && timingSafeEqual(digest(key, purpose, message), Buffer.from(hex, 'hex'));
  }

  #newest(): KeyObject {
    const { signing, macKeys } = this.#material;
    const key = macKeys.get(signing.kid);
    if (!key) throw newServiceUnavailable('the signing keys are not loaded yet');
    return key;
  }
}

/** NUL separates the purpose, which contains none, so a MAC of one purpose is never valid for another. */
function digest(key: KeyObject, purpose: string, message: string): Buffer {
  return createHmac('sha256', key).update(`${purpose}\0${message}`).digest();
}

/** The public members of RFC 7517. An allow-list, so that no private member is ever published. */
function publicPart({ kid }: KeyRecord, { kty, crv, x, y }: JWK): JWK & { readonly kid: string } {
  if (kty === undefined || crv === undefined || x === undefined || y === undefined) {
    throw new Error(`key ${kid} lacks a member`);
  }
  return { kty, crv, x, y, kid, use: 'sig', alg: ALGORITHM };
}

/**
 * The signing key. It signs on the calling thread, which takes 0.1 ms. WebCrypto would wait for a thread of libuv's pool
 * behind password hashes that take a hundred times as long.
 */
async function signingKey(kid: string, jwk: JWK): Promise<SigningKey> {
  const { kty, crv, x, y, d } = jwk;
  if (kty !== 'EC' || crv === undefined || x === undefined || y === undefined || d === undefined) {
    throw new Error(`key ${kid} lacks a member`);
  }
  // Rejects a private part that does not match the public part; createPrivateKey accepts it.
  await imported(jwk);
  const key = createPrivateKey({ format: 'jwk', key: { kty, crv, x, y, d } });
  return { kid, sign: (input) => sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }) };
}

async function importedByID(
  keys: readonly (JWK & { readonly kid: string })[],
): Promise<ReadonlyMap<string, CryptoKey>> {
  return new Map(await Promise.all(keys.map(async (jwk) => [jwk.kid, await imported(jwk)] as const)));
}

async function imported(jwk: JWK): Promise<CryptoKey> {
  const key = await importJWK(jwk, ALGORITHM, { extractable: false });
  if (key instanceof Uint8Array) throw new Error('a signing key is symmetric');
  return key;
}
