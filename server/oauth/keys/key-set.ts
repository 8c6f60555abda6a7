// What the Secret of the keys holds, as data: read with care, changed by rotation.ts. A key serves two ends: its pair
// signs tokens, its MAC key marks objects as made by us.
import type { JWK } from 'jose';
import { isRecord } from '../../../apis/reading/unknown-value.ts';

const KEY_STATES = ['next', 'active', 'retired'] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** Times in ms since the epoch. */
export interface KeyRecord {
  /** RFC 7638 thumbprint of the pair. */
  readonly kid: string;
  readonly state: KeyState;
  readonly createdAt: number;
  /** When it begins, or began, to sign. */
  readonly activeAt: number;
  /** Of a retired key: its signatures are accepted until then. */
  readonly verifyUntil?: number;
  /** Of a retired key: its MACs are accepted until then. */
  readonly macUntil?: number;
  /** The pair; without its private part once it is retired, gone when what it signed counts no longer. */
  readonly jwk?: JWK;
  /**
   * The public part afterwards, for as long as the MAC key: published no more, but id tokens of sessions that still live
   * come as hints.
   */
  readonly pastJwk?: JWK;
  /** 256 random bits, base64url. */
  readonly macKey: string;
}

export interface KeySet {
  readonly keys: readonly KeyRecord[];
}

export function activeKey({ keys }: KeySet): KeyRecord | undefined {
  return keys.find(({ state }) => state === 'active');
}

export function writeKeySet({ keys }: KeySet): string {
  return JSON.stringify({
    keys: keys.map((key) => ({
      ...key,
      createdAt: time(key.createdAt),
      activeAt: time(key.activeAt),
      ...(key.verifyUntil === undefined ? {} : { verifyUntil: time(key.verifyUntil) }),
      ...(key.macUntil === undefined ? {} : { macUntil: time(key.macUntil) }),
    })),
  });
}

/** Throws, without repeating anything of it, on text that is not a set with exactly one active key. */
export function readKeySet(text: string): KeySet {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('the keys are not JSON');
  }
  const items = isRecord(value) && Array.isArray(value['keys']) ? value['keys'] : [];
  const keys = items.map(readKey);
  if (keys.filter(({ state }) => state === 'active').length !== 1) {
    throw new Error('the keys have not exactly one that is active');
  }
  return { keys };
}

function readKey(value: unknown): KeyRecord {
  if (!isRecord(value)) throw new Error('a key is not an object');
  const { kid, state, createdAt, activeAt, verifyUntil, macUntil, jwk, pastJwk, macKey } = value;
  const known = KEY_STATES.find((candidate) => candidate === state);
  if (typeof kid !== 'string' || !/^[\w-]{43}$/.test(kid) || known === undefined) {
    throw new Error('a key has no kid or no state');
  }
  if (typeof macKey !== 'string' || !/^[\w-]{43}$/.test(macKey)) throw new Error(`key ${kid} has no MAC key`);
  if (known !== 'retired' && !(isPoint(jwk) && typeof jwk.d === 'string'))
    throw new Error(`key ${kid} has no private key of P-256`);
  return {
    kid,
    state: known,
    createdAt: ms(createdAt),
    activeAt: ms(activeAt),
    ...(verifyUntil === undefined ? {} : { verifyUntil: ms(verifyUntil) }),
    ...(macUntil === undefined ? {} : { macUntil: ms(macUntil) }),
    ...(isPoint(jwk) ? { jwk } : {}),
    ...(isPoint(pastJwk) ? { pastJwk } : {}),
    macKey,
  };
}

function isPoint(value: unknown): value is JWK {
  return (
    isRecord(value) &&
    value['kty'] === 'EC' &&
    value['crv'] === 'P-256' &&
    typeof value['x'] === 'string' &&
    typeof value['y'] === 'string'
  );
}

function time(at: number): string {
  return new Date(at).toISOString();
}

function ms(value: unknown): number {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) throw new Error('a time of a key cannot be read');
  return at;
}
