// Rotates the signing keys, on schedule or at an operator's request. Only the leader rotates keys.
import type { Logger } from 'pino';
import { isConflict, isNotFound } from '../../../apis/meta/v1/errors.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import type { SecretLocation } from '../../cluster/secrets/installed-secret.ts';
import { Wakeup } from '../../concurrency/wakeup.ts';
import { KeySecret, type RotationRequest } from './key-secret.ts';
import {
  activeKey,
  firstSet,
  type KeyMaterial,
  type KeyRecord,
  type KeySet,
  newKey,
  publicMembers,
} from './key-set.ts';

/** Durations in ms. */
export interface RotationPolicy {
  /** Time during which a key is active, that is, signs tokens. */
  readonly rotationInterval: number;
  /** Time between the publication of a key and its first signature. Must be longer than clients cache the JWK Set. */
  readonly publishAhead: number;
  /** Maximum lifetime of a token, plus leeway for clocks. */
  readonly tokenLifetime: number;
  /** Maximum lifetime of an object with a MAC. */
  readonly macLifetime: number;
}

/** The Secret with the signing keys, in the namespace of the server. The manifests create it, and allow the server to update it. */
export const KEYS_SECRET = 'ks-apiserver-signing-keys';
/** Bounds the use of a stolen key. Clients do not notice a rotation, and `ks-apiserver keys rotate` brings it forward. */
export const ROTATION_INTERVAL_MS = 30 * 86_400_000;
/** Ten times as long as verifiers may cache the JWK Set (see keysHandler). */
export const PUBLISH_AHEAD_MS = 600_000;

interface KeyRotatorOptions extends SecretLocation {
  readonly client: Pick<ClusterClient, 'json'>;
  readonly policy: RotationPolicy;
  /** Calls `changed` after every change of the Secret, which may contain a request for rotation. */
  readonly subscribe: (changed: () => void) => () => void;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Ms since the epoch. */
  readonly now?: () => number;
}

/** Maximum time between checks, because clocks jump and long timers drift. */
const MAX_WAIT_MS = 60_000;
const RETRY_MS = 5_000;

export class KeyRotator {
  readonly #options: KeyRotatorOptions;
  readonly #secret: KeySecret;

  constructor(options: KeyRotatorOptions) {
    this.#options = options;
    this.#secret = new KeySecret(options.client, options);
  }

  /** Rotates the keys until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const wakeup = new Wakeup();
    const unsubscribe = this.#options.subscribe(() => wakeup.wake());
    try {
      while (await wakeup.next(signal, await this.#attempt(signal)));
    } finally {
      unsubscribe();
    }
  }

  /** Performs the changes that are due. Resolves with the ms until the next scheduled change. */
  async rotate(signal: AbortSignal): Promise<number> {
    const { policy, log } = this.#options;
    const now = (this.#options.now ?? Date.now)();
    const stored = await this.#secret.read(signal);
    const next = await rotated(stored.set, now, policy, newKey, stored.request);
    if (next !== stored.set || stored.request !== undefined) {
      await this.#secret.replace(stored, next, signal);
      log.info(
        { request: stored.request, keys: next.keys.map(({ kid, state }) => ({ kid, state })) },
        'signing keys rotated',
      );
    }
    return Math.max(0, nextChange(next, policy) - now);
  }

  async #attempt(signal: AbortSignal): Promise<number> {
    try {
      return Math.min(await this.rotate(signal), MAX_WAIT_MS);
    } catch (err) {
      // After a conflict, and while the Secret is empty, the next change of the Secret wakes the rotator.
      if (!signal.aborted && !isConflict(err) && !isNotFound(err)) {
        this.#options.log.warn({ err, secretName: this.#options.name }, 'cannot rotate the signing keys');
      }
      return RETRY_MS;
    }
  }
}

/** Returns the key set for the time `now`, or `set` itself if nothing changes. Calls `make` if a new key is needed. */
export async function rotated(
  set: KeySet,
  now: number,
  policy: RotationPolicy,
  make: () => Promise<KeyMaterial>,
  request?: RotationRequest,
): Promise<KeySet> {
  if (request === 'immediate') return firstSet(await make(), now);
  const active = activeKey(set);
  if (!active) throw new Error('the key set has no active key');
  const next = set.keys.find(({ state }) => state === 'next');
  const rotateAt = active.activeAt + policy.rotationInterval;
  const activeAt = (next?.createdAt ?? now) + policy.publishAhead;

  let keys = set.keys;
  if (next && request === 'graceful' && activeAt < next.activeAt) {
    keys = keys.map((key) => (key === next ? { ...next, activeAt } : key));
  } else if (!next && (request === 'graceful' || now >= rotateAt - policy.publishAhead)) {
    keys = [...keys, { ...(await make()), state: 'next', createdAt: now, activeAt }];
  }
  if (keys.some((key) => isDue(key, now))) {
    keys = keys.map((key) => {
      if (isDue(key, now)) return { ...key, state: 'active', activeAt: now };
      return key === active ? retired(active, now, policy) : key;
    });
  }
  const kept = await Promise.all(
    keys.filter((key) => !isExpired(key, now)).map((key) => withRSA(withoutExpiredPair(key, now), make)),
  );
  return kept.length === set.keys.length && kept.every((key, i) => key === set.keys[i])
    ? set
    : { keys: kept };
}

/** Time of the next scheduled change, in ms since the epoch. */
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

/** A retired key only verifies, so its private part is deleted. */
function retired({ jwk, rsaJwk, ...key }: KeyRecord, now: number, policy: RotationPolicy): KeyRecord {
  return {
    ...key,
    ...(jwk ? { jwk: publicMembers(jwk) } : {}),
    ...(rsaJwk ? { rsaJwk: { ...publicMembers(rsaJwk), kid: rsaJwk.kid } } : {}),
    state: 'retired',
    verifyUntil: now + policy.tokenLifetime,
    macUntil: now + policy.macLifetime,
  };
}

function isExpired({ state, macUntil = 0, verifyUntil = 0 }: KeyRecord, now: number): boolean {
  return state === 'retired' && now >= Math.max(macUntil, verifyUntil);
}

/** After `verifyUntil` the public parts move to `pastJwk` and `pastRSAJwk`. */
function withoutExpiredPair(key: KeyRecord, now: number): KeyRecord {
  if (key.state !== 'retired' || key.jwk === undefined || now < (key.verifyUntil ?? 0)) return key;
  const { jwk: pastJwk, rsaJwk: pastRSAJwk, ...rest } = key;
  return { ...rest, pastJwk, ...(pastRSAJwk ? { pastRSAJwk } : {}) };
}

/** Keys of an earlier version of this server lack the RSA pair. */
async function withRSA(key: KeyRecord, make: () => Promise<KeyMaterial>): Promise<KeyRecord> {
  if (key.state === 'retired' || key.rsaJwk !== undefined) return key;
  const { rsaJwk } = await make();
  return { ...key, rsaJwk };
}
