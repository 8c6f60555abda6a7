// Shares the throttle of password sign-ins among all replicas through a ConfigMap, which contains a record for each delay. So delays
// survive a restart. The ConfigMap contains keyed digests instead of names.
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { isAlreadyExists, isNotFound } from '../../../apis/meta/v1/errors.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { array, record, texts } from '../../../apis/reading/unknown-value.ts';
import { networkOf } from '../../admission/network.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { followObject } from '../../cluster/reflector/followed-object.ts';
import { pause } from '../../concurrency/pause.ts';
import { Wakeup } from '../../concurrency/wakeup.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { type Attempted, LoginThrottle, type ThrottleLimits, type ThrottleRecord } from './login-throttle.ts';

interface SharedThrottleOptions {
  readonly limits: ThrottleLimits;
  readonly keys: Pick<KeyRing, 'mac'>;
  readonly sessions: {
    /** Open sessions of an account, with the addresses of their sign-ins. */
    ofUser(account: string): readonly { readonly source: string }[];
  };
  readonly client: ClusterClient;
  readonly namespace: string;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Pause between two writes, in ms. */
  readonly pauseMs?: number;
  /** Ms since the epoch. */
  readonly now?: () => number;
}

const NAME = 'ks-apiserver-login-throttle';
/** Maximum number of records: they take about half of the maximum size of a ConfigMap. */
const MAX_RECORDS = 1000;

export class SharedThrottle {
  readonly logins: LoginThrottle;
  readonly #options: SharedThrottleOptions;
  readonly #path: string;
  /** Encoded records by key. The oldest ones are dropped, for instance during an outage of the cluster. */
  readonly #unwritten = new LRUCache<string, string>({ max: MAX_RECORDS });
  #stored: Readonly<Record<string, string>> = {};
  readonly #wakeup = new Wakeup();

  constructor(options: SharedThrottleOptions) {
    const { limits, keys, sessions, namespace, now = Date.now } = options;
    this.#options = options;
    this.#path = `/api/v1/namespaces/${namespace}/configmaps`;
    this.logins = new LoginThrottle({
      limits,
      digest: (kind, value) => digest(keys, kind, value),
      isSignedIn: (account, network) =>
        sessions.ofUser(account).some(({ source }) => networkOf(source) === network),
      changed: (changed) => {
        const { key, ...content } = changed;
        this.#unwritten.set(key, JSON.stringify(content));
        this.#wakeup.wake();
      },
      now,
    });
  }

  /** Watches and writes the ConfigMap until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, namespace, log } = this.#options;
    const take = (configMap: unknown): void => this.#take(configMap);
    const following = followObject({ client, log, path: this.#path, namespace, name: NAME }, take, signal);
    await Promise.all([following, this.#writeUntil(signal)]);
  }

  #take(configMap: unknown): void {
    const { namespace, log } = this.#options;
    const before = this.#stored;
    this.#stored = texts(record(configMap)['data']);
    if (configMap === undefined && Object.keys(before).length > 0) {
      log.info({ configMap: `${namespace}/${NAME}` }, 'ConfigMap deleted: all sign-in delays end');
      this.#unwritten.clear();
      this.logins.clear();
    }
    for (const [key, value] of Object.entries(this.#stored)) {
      if (before[key] === value) continue;
      const decoded = this.#decode(key, value);
      if (decoded) this.logins.merge(decoded);
    }
  }

  /** Returns undefined for an invalid or expired record. */
  #decode(key: string, value: string): ThrottleRecord | undefined {
    const decoded = decodeRecord(key, value);
    return decoded && !this.logins.isExpired(decoded) ? decoded : undefined;
  }

  async #writeUntil(signal: AbortSignal): Promise<void> {
    const { log, pauseMs = 1000 } = this.#options;
    const failures = new RepeatedFailure();
    while (!signal.aborted) {
      if (this.#unwritten.size === 0) {
        await this.#wakeup.next(signal);
        continue;
      }
      // The oldest ones first.
      const batch = new Map([...this.#unwritten].reverse());
      try {
        await this.#write(batch, signal);
        failures.end();
        for (const [key, value] of batch) {
          if (this.#unwritten.get(key) === value) this.#unwritten.delete(key);
        }
      } catch (error) {
        if (signal.aborted) return;
        const level = failures.isNews(messageOf(error)) ? 'warn' : 'debug';
        log[level]({ err: error }, 'cannot share sign-in delays with other replicas');
        await pause(pauseMs * 4, signal);
      }
      await pause(pauseMs, signal);
    }
  }

  /** Patches only the changed keys, so that replicas do not overwrite each other. */
  async #write(batch: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void> {
    const { client, namespace } = this.#options;
    const headers = { 'content-type': 'application/merge-patch+json' };
    const json = { data: { ...Object.fromEntries(batch), ...this.#removals(batch) } };
    const patch = { method: 'PATCH', path: `${this.#path}/${NAME}`, headers, json, signal } as const;
    try {
      await client.json(patch);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const metadata = { name: NAME, namespace };
      const empty = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
      await client
        .json({ method: 'POST', path: this.#path, json: empty, signal })
        .catch((reason: unknown) => {
          if (!isAlreadyExists(reason)) throw reason;
        });
      await client.json(patch);
    }
  }

  /** Keys to remove: invalid and expired records, then those with the fewest failures while there are too many. */
  #removals(batch: ReadonlyMap<string, string>): Readonly<Record<string, null>> {
    const others = Object.entries(this.#stored).filter(([key]) => !batch.has(key));
    const valid = others
      .flatMap(([key, value]) => this.#decode(key, value) ?? [])
      .filter(({ failures }) => failures > 0)
      .sort((one, other) => other.failures - one.failures || other.lastAt - one.lastAt);
    const kept = new Set(valid.slice(0, MAX_RECORDS - batch.size).map(({ key }) => key));
    return Object.fromEntries(others.flatMap(([key]) => (kept.has(key) ? [] : [[key, null]])));
  }
}

/** Returns the key in the ConfigMap. It depends on the newest MAC key, so counting restarts when that key is rotated. */
function digest(keys: Pick<KeyRing, 'mac'>, kind: Attempted | 'source', value: string): string {
  const mac = keys.mac(`login-throttle-${kind}`, value);
  const colon = mac.lastIndexOf(':');
  return `${kind}-${mac.slice(0, colon).slice(0, 16)}-${mac.slice(colon + 1).slice(0, 32)}`;
}

/** Returns undefined for an invalid value. */
function decodeRecord(key: string, value: string): ThrottleRecord | undefined {
  try {
    const { failures, lastAt, knownSources } = record(JSON.parse(value));
    if (typeof failures !== 'number' || typeof lastAt !== 'number') return undefined;
    const sources = array(knownSources).filter((source) => typeof source === 'string');
    return { key, failures, lastAt, knownSources: sources };
  } catch {
    return undefined;
  }
}
