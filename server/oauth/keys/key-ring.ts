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
import {
  activeKey,
  type IdentifiedJWK,
  type KeyRecord,
  type KeySet,
  publicMembers,
  type SigningAlgorithm,
} from './key-set.ts';

/** A signing key, identified by its RFC 7638 thumbprint. The private part is not accessible. */
export interface SigningKey {
  readonly kid: string;
  readonly algorithm: SigningAlgorithm;
  /** The signature of RFC 7518: R and S of ES256 (3.4), PKCS #1 of RS256 (3.3). */
  sign(input: string): Buffer;
}

/** The current keys of the server, which change at each rotation. */
export interface KeyRing {
  /** False until the keys are loaded. */
  readonly ready: boolean;
  /** The active key, by default of ES256. Throws ServiceUnavailable while there is none. */
  signing(algorithm?: SigningAlgorithm): SigningKey;
  /** The public key with exactly this kid, of exactly this algorithm: next, active or retired. */
  verification(kid: string, algorithm: string): CryptoKey | undefined;
  /**
   * As `verification`, for ID tokens as `id_token_hint` only: they may be as old as their session, so keys that are no
   * longer published are included.
   */
  hintVerification(kid: string, algorithm: string): CryptoKey | undefined;
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

interface Material {
  /** Name of the active key record. */
  readonly active: string;
  readonly signing: ReadonlyMap<SigningAlgorithm, SigningKey>;
  /** By `keyName`. */
  readonly verification: ReadonlyMap<string, CryptoKey>;
  readonly published: readonly JWK[];
  /** By `keyName`. */
  readonly past: ReadonlyMap<string, CryptoKey>;
  /** The MAC key of the active key record. */
  readonly newest: KeyObject;
  readonly macKeys: ReadonlyMap<string, KeyObject>;
}

/** The imported keys of one key set, or none. Private keys cannot be exported. */
export class ImportedKeys implements KeyRing {
  #material: Material | undefined;

  static async from(set: KeySet): Promise<ImportedKeys> {
    const keys = new ImportedKeys();
    await keys.load(set);
    return keys;
  }

  get ready(): boolean {
    return this.#material !== undefined;
  }

  signing(algorithm: SigningAlgorithm = 'ES256'): SigningKey {
    const key = this.#loaded().signing.get(algorithm);
    if (!key) throw newServiceUnavailable(`there is no key for ${algorithm} yet`);
    return key;
  }

  verification(kid: string, alg: string): CryptoKey | undefined {
    return this.#material?.verification.get(keyName({ kid, alg }));
  }

  hintVerification(kid: string, alg: string): CryptoKey | undefined {
    return this.verification(kid, alg) ?? this.#material?.past.get(keyName({ kid, alg }));
  }

  jwks(): { readonly keys: readonly JWK[] } {
    return { keys: this.#loaded().published };
  }

  mac(purpose: string, message: string): string {
    const { active, newest } = this.#loaded();
    return `${active}:${digest(newest, purpose, message).toString('hex')}`;
  }

  macs(purpose: string, message: string): readonly [Buffer, ...Buffer[]] {
    const { newest, macKeys } = this.#loaded();
    const others = [...macKeys.values()].filter((key) => key !== newest);
    return [digest(newest, purpose, message), ...others.map((key) => digest(key, purpose, message))];
  }

  checkMac(purpose: string, message: string, mac: string): boolean {
    const [, kid = '', hex = ''] = /^([\w-]{43}):([0-9a-f]{64})$/.exec(mac) ?? [];
    const key = this.#material?.macKeys.get(kid);
    return key !== undefined && timingSafeEqual(digest(key, purpose, message), Buffer.from(hex, 'hex'));
  }

  /** Replaces all keys. Throws for an unusable key, and keeps the others then. */
  protected async load(set: KeySet): Promise<void> {
    const active = activeKey(set);
    if (!active?.jwk) throw new Error('the key set has no active key');
    const published = set.keys.flatMap((key) => publicParts(key.kid, key.jwk, key.rsaJwk));
    const past = set.keys.flatMap((key) => publicParts(key.kid, key.pastJwk, key.pastRSAJwk));
    const signing = await Promise.all([
      signingKey('ES256', { ...active.jwk, kid: active.kid }),
      ...(active.rsaJwk ? [signingKey('RS256', active.rsaJwk)] : []),
    ]);
    const newest = macKeyOf(active);
    this.#material = {
      active: active.kid,
      signing: new Map(signing.map((key) => [key.algorithm, key])),
      verification: await importedByName(published),
      published,
      past: await importedByName(past),
      newest,
      macKeys: new Map(set.keys.map((key) => [key.kid, key === active ? newest : macKeyOf(key)])),
    };
  }

  #loaded(): Material {
    if (!this.#material) throw newServiceUnavailable('the signing keys are not loaded yet');
    return this.#material;
  }
}

/** Imported once: createHmac would import the bytes for each message, which takes four times as long as the MAC. */
function macKeyOf({ macKey }: KeyRecord): KeyObject {
  return createSecretKey(Buffer.from(macKey, 'base64url'));
}

/** NUL separates the purpose, which contains none, so a MAC of one purpose is never valid for another. */
function digest(key: KeyObject, purpose: string, message: string): Buffer {
  return createHmac('sha256', key).update(`${purpose}\0${message}`).digest();
}

/** The public parts of the pairs of a key record (RFC 7517). */
function publicParts(kid: string, jwk: JWK | undefined, rsaJwk: IdentifiedJWK | undefined): IdentifiedJWK[] {
  return [
    ...(jwk ? [{ ...publicMembers(jwk), kid, use: 'sig', alg: 'ES256' }] : []),
    ...(rsaJwk ? [{ ...publicMembers(rsaJwk), kid: rsaJwk.kid, use: 'sig', alg: 'RS256' }] : []),
  ];
}

/**
 * A signing key. It signs on the calling thread, which takes 0.1 ms with ES256. WebCrypto would wait for a thread of
 * libuv's pool behind password hashes that take a hundred times as long.
 */
async function signingKey(algorithm: SigningAlgorithm, { kid, ...jwk }: IdentifiedJWK): Promise<SigningKey> {
  if (typeof jwk.d !== 'string') throw new Error(`key ${kid} has no private part`);
  // Rejects a private part that does not match the public part; createPrivateKey accepts it.
  await imported(jwk, algorithm);
  const key = createPrivateKey({ format: 'jwk', key: { ...jwk } });
  return {
    kid,
    algorithm,
    // On this thread: jose signs on those of libuv, where eight password hashes leave 4 to 7 signatures per second.
    sign: (input) => sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }),
  };
}

async function importedByName(keys: readonly IdentifiedJWK[]): Promise<ReadonlyMap<string, CryptoKey>> {
  return new Map(
    await Promise.all(keys.map(async (jwk) => [keyName(jwk), await imported(jwk, jwk.alg ?? '')] as const)),
  );
}

/** With the algorithm, because verification with a key of another algorithm is an error of the caller (TypeError). */
function keyName({ kid, alg = '' }: Pick<IdentifiedJWK, 'kid' | 'alg'>): string {
  return `${alg} ${kid}`;
}

async function imported(jwk: JWK, algorithm: string): Promise<CryptoKey> {
  const key = await importJWK(jwk, algorithm, { extractable: false });
  if (key instanceof Uint8Array) throw new Error('a signing key is symmetric');
  return key;
}
