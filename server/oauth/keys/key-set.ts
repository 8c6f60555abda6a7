// KeySet: the signing keys and MAC keys of the authorization server. One Secret contains the whole KeySet.
import { randomBytes } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';
import { isRecord, optionalTime } from '../../../apis/reading/unknown-value.ts';

/** ES256 signs everything except the ID tokens of clients with RS256. */
export const SIGNING_ALGORITHMS = ['ES256', 'RS256'] as const;
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

const KEY_STATES = ['next', 'active', 'retired'] as const;
type KeyState = (typeof KEY_STATES)[number];

/** Times in ms since the epoch. */
export interface KeyRecord {
  /** RFC 7638 thumbprint of the pair. */
  readonly kid: string;
  readonly state: KeyState;
  readonly createdAt: number;
  /** Start of signing. */
  readonly activeAt: number;
  /** End of acceptance of signatures, for a retired key. */
  readonly verifyUntil?: number;
  /** End of acceptance of MACs, for a retired key. */
  readonly macUntil?: number;
  /** The pair; only the public part once retired; absent after `verifyUntil`. */
  readonly jwk?: JWK;
  /** The public part between `verifyUntil` and `macUntil`: not published, for ID tokens of existing sessions as hints. */
  readonly pastJwk?: JWK;
  /** As `jwk` and `pastJwk`, for RS256. Absent in key sets of earlier versions, until the leader adds it. */
  readonly rsaJwk?: IdentifiedJWK;
  readonly pastRSAJwk?: IdentifiedJWK;
  /** 256 random bits, base64url. */
  readonly macKey: string;
}

/** A JWK with its RFC 7638 thumbprint. */
export type IdentifiedJWK = JWK & { readonly kid: string };

export interface KeySet {
  readonly keys: readonly KeyRecord[];
}

export type KeyMaterial = Required<Pick<KeyRecord, 'kid' | 'jwk' | 'rsaJwk' | 'macKey'>>;

/** A new MAC key, and a new pair for each algorithm. kube-apiserver does not accept EdDSA. */
export async function newKey(): Promise<KeyMaterial> {
  const [{ kid, ...jwk }, rsaJwk] = await Promise.all([newPair('ES256'), newPair('RS256')]);
  return { kid, jwk, rsaJwk, macKey: randomBytes(32).toString('base64url') };
}

/** A new pair; RSA has 2048 bits. */
export async function newPair(algorithm: SigningAlgorithm): Promise<IdentifiedJWK> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk, 'sha256') };
}

/** The public members of a pair (RFC 7518, 6). An allow-list, so that no private member is ever published. */
export function publicMembers({ kty, crv, x, y, n, e }: JWK): JWK {
  if (kty === 'EC' && crv !== undefined && x !== undefined && y !== undefined) return { kty, crv, x, y };
  if (kty === 'RSA' && n !== undefined && e !== undefined) return { kty, n, e };
  throw new Error('a key lacks a member');
}

/** A set with one active key. */
export function firstSet(material: KeyMaterial, now: number): KeySet {
  return { keys: [{ ...material, state: 'active', createdAt: now, activeAt: now }] };
}

export function activeKey({ keys }: KeySet): KeyRecord | undefined {
  return keys.find(({ state }) => state === 'active');
}

export function writeKeySet({ keys }: KeySet): string {
  return JSON.stringify({
    keys: keys.map((key) => ({
      ...key,
      createdAt: formatTime(key.createdAt),
      activeAt: formatTime(key.activeAt),
      ...(key.verifyUntil === undefined ? {} : { verifyUntil: formatTime(key.verifyUntil) }),
      ...(key.macUntil === undefined ? {} : { macUntil: formatTime(key.macUntil) }),
    })),
  });
}

/** Throws for text that is not a set with exactly one active key. The error contains nothing of the text. */
export function readKeySet(text: string): KeySet {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('the key set is not JSON');
  }
  const items = isRecord(value) && Array.isArray(value['keys']) ? value['keys'] : [];
  const keys = items.map(readKey);
  if (keys.filter(({ state }) => state === 'active').length !== 1) {
    throw new Error('the key set must have exactly one active key');
  }
  return { keys };
}

function readKey(value: unknown): KeyRecord {
  if (!isRecord(value)) throw new Error('a key is not an object');
  const { kid, state, createdAt, activeAt, verifyUntil, macUntil, macKey } = value;
  const { jwk, pastJwk, rsaJwk, pastRSAJwk } = value;
  const known = KEY_STATES.find((candidate) => candidate === state);
  if (typeof kid !== 'string' || !/^[\w-]{43}$/.test(kid) || known === undefined) {
    throw new Error('a key has an invalid kid or state');
  }
  if (typeof macKey !== 'string' || !/^[\w-]{43}$/.test(macKey)) throw new Error(`key ${kid} has no MAC key`);
  if (known !== 'retired' && !(isP256(jwk) && typeof jwk.d === 'string'))
    throw new Error(`key ${kid} has no private P-256 key`);
  return {
    kid,
    state: known,
    createdAt: readTime(createdAt),
    activeAt: readTime(activeAt),
    ...(verifyUntil === undefined ? {} : { verifyUntil: readTime(verifyUntil) }),
    ...(macUntil === undefined ? {} : { macUntil: readTime(macUntil) }),
    ...(isP256(jwk) ? { jwk } : {}),
    ...(isP256(pastJwk) ? { pastJwk } : {}),
    ...(isRSA(rsaJwk) ? { rsaJwk } : {}),
    ...(isRSA(pastRSAJwk) ? { pastRSAJwk } : {}),
    macKey,
  };
}

function isP256(value: unknown): value is JWK {
  return (
    isRecord(value) &&
    value['kty'] === 'EC' &&
    value['crv'] === 'P-256' &&
    typeof value['x'] === 'string' &&
    typeof value['y'] === 'string'
  );
}

function isRSA(value: unknown): value is IdentifiedJWK {
  return (
    isRecord(value) &&
    value['kty'] === 'RSA' &&
    typeof value['kid'] === 'string' &&
    typeof value['n'] === 'string' &&
    typeof value['e'] === 'string'
  );
}

function formatTime(at: number): string {
  return new Date(at).toISOString();
}

function readTime(value: unknown): number {
  const at = optionalTime(value);
  if (at === undefined) throw new Error('a key has an invalid time');
  return at;
}
