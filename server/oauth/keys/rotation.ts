// When keys change, and into what: a plan out of the keys as they are and the time. Nothing here reads or writes.
import { activeKey, type KeyRecord, type KeySet } from './key-set.ts';
import type { KeyMaterial } from './new-key.ts';

/** All in ms. */
export interface RotationPolicy {
  /** How long a key signs. */
  readonly rotationInterval: number;
  /** How long a key is published before it signs: longer than anybody keeps our JWKS. */
  readonly publishAhead: number;
  /** The longest life of a token, with some leeway for clocks. */
  readonly tokenLifetime: number;
  /** The longest life of an object that bears a MAC. */
  readonly macLifetime: number;
}

/**
 * What an operator asked for. `graceful`: sign with a new key as soon as everybody can know it. `immediate`: the keys
 * are in wrong hands; a new one signs at once, and what the old ones signed or marked counts for nothing any more.
 */
export type RotationRequest = 'graceful' | 'immediate';

export function firstSet(material: KeyMaterial, now: number): KeySet {
  return { keys: [{ ...material, state: 'active', createdAt: now, activeAt: now }] };
}

/** The keys as they ought to be now; the same object when nothing changes. `make` is called when one is wanted. */
export async function rotated(
  set: KeySet,
  now: number,
  policy: RotationPolicy,
  make: () => Promise<KeyMaterial>,
  request?: RotationRequest,
): Promise<KeySet> {
  if (request === 'immediate') return firstSet(await make(), now);
  const active = activeKey(set);
  if (!active) throw new Error('no key is active');
  const next = set.keys.find(({ state }) => state === 'next');
  const due = active.activeAt + policy.rotationInterval;
  const activeAt = (next?.createdAt ?? now) + policy.publishAhead;

  let keys = set.keys;
  if (next && request === 'graceful' && activeAt < next.activeAt) {
    keys = keys.map((key) => (key === next ? { ...next, activeAt } : key));
  } else if (!next && (request === 'graceful' || now >= due - policy.publishAhead)) {
    keys = [...keys, { ...(await make()), state: 'next', createdAt: now, activeAt }];
  }
  if (keys.some((key) => isDue(key, now))) {
    keys = keys.map((key) => {
      if (isDue(key, now)) return { ...key, state: 'active', activeAt: now };
      return key === active ? retired(active, now, policy) : key;
    });
  }
  const kept = keys.filter((key) => !isSpent(key, now)).map((key) => withoutSpentPart(key, now));
  return kept.length === set.keys.length && kept.every((key, i) => key === set.keys[i])
    ? set
    : { keys: kept };
}

/** When there is something to do next, in ms since the epoch. */
export function nextChange({ keys }: KeySet, policy: RotationPolicy): number {
  const hasNext = keys.some(({ state }) => state === 'next');
  const times = keys.flatMap((key) => {
    if (key.state === 'next') return [key.activeAt];
    if (key.state === 'active') {
      return hasNext ? [] : [key.activeAt + policy.rotationInterval - policy.publishAhead];
    }
    return [...(key.jwk ? [key.verifyUntil ?? 0] : []), key.macUntil ?? 0];
  });
  return Math.min(...times);
}

function isDue({ state, activeAt }: KeyRecord, now: number): boolean {
  return state === 'next' && now >= activeAt;
}

/** It verifies, but never signs again: its private part goes. */
function retired({ jwk, ...key }: KeyRecord, now: number, policy: RotationPolicy): KeyRecord {
  const { d: _private, ...publicPart } = jwk ?? {};
  return {
    ...key,
    ...(jwk ? { jwk: publicPart } : {}),
    state: 'retired',
    verifyUntil: now + policy.tokenLifetime,
    macUntil: now + policy.macLifetime,
  };
}

function isSpent({ state, macUntil = 0, verifyUntil = 0 }: KeyRecord, now: number): boolean {
  return state === 'retired' && now >= Math.max(macUntil, verifyUntil);
}

/** What it signed has expired; its MAC key stays a while longer, and what hints are verified with. */
function withoutSpentPart(key: KeyRecord, now: number): KeyRecord {
  if (key.state !== 'retired' || key.jwk === undefined || now < (key.verifyUntil ?? 0)) return key;
  const { jwk: pastJwk, ...rest } = key;
  return { ...rest, pastJwk };
}
