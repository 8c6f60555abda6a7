// Shares the throttle of password sign-ins among all replicas through a ConfigMap. The ConfigMap contains digests
// instead of user names.
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
import {
  LoginThrottle,
  type LoginThrottleOptions,
  type ThrottleLimits,
  type ThrottleRecord,
} from './login-throttle.ts';

export interface Macs {
  mac(purpose: string, message: string): string;
  checkMac(purpose: string, message: string, mac: string): boolean;
}

export interface SharedThrottleOptions {
  readonly limits: ThrottleLimits;
  readonly waitLimits: NonNullable<LoginThrottleOptions['waitLimits']>;
  readonly keys: Macs & {
    /** Called when the keys are available, and at each change. */
    subscribe(changed: () => void): () => void;
  };
  readonly sessions: {
    /** Open sessions of an account, with the addresses of their sign-ins. */
    ofUser(account: string): readonly { readonly source: string }[];
  };
  readonly client: ClusterClient;
  readonly namespace: string;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
}

export interface SharedThrottle {
  readonly logins: LoginThrottle;
  /** Runs until `signal` is aborted; never throws. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Watched by every replica. It contains a record for each delay, so delays survive a restart. Write access to the
 * ConfigMap is not sufficient to delay users, because records have a MAC.
 */
const CONFIG_MAP = 'ks-apiserver-login-throttle';

export function newSharedThrottle(options: SharedThrottleOptions): SharedThrottle {
  const { limits, waitLimits, keys, sessions, client, namespace, log } = options;
  const logins = new LoginThrottle({
    limits,
    waitLimits,
    digest: (kind, value) => digest(keys, kind, value),
    isSignedIn: (account, network) =>
      sessions.ofUser(account).some(({ source }) => networkOf(source) === network),
    changed: (record) => records.save(record),
  });
  const records = new SharedRecords({
    client,
    namespace,
    name: CONFIG_MAP,
    macs: keys,
    merge: (record) => logins.merge(record),
    clear: () => {
      log.info({ configMap: `${namespace}/${CONFIG_MAP}` }, 'ConfigMap deleted: all sign-in delays end');
      logins.clear();
    },
    lifetimeMs: limits.reset,
    log,
  });
  return {
    logins,
    run: async (signal) => {
      const unsubscribe = keys.subscribe(() => records.refresh());
      await records.run(signal);
      unsubscribe();
    },
  };
}

/** Returns the key in the ConfigMap. It depends on the newest MAC key, so counting restarts when that key is rotated. */
function digest(keys: Macs, kind: 'account' | 'source', value: string): string {
  const mac = keys.mac(`login-throttle-${kind}`, value);
  const colon = mac.lastIndexOf(':');
  return `${kind}-${mac.slice(0, colon).slice(0, 16)}-${mac.slice(colon + 1).slice(0, 32)}`;
}

export interface SharedRecordsOptions {
  readonly client: ClusterClient;
  readonly namespace: string;
  /** Name of the ConfigMap. */
  readonly name: string;
  readonly macs: Macs;
  /** Called for each record that another replica has written, and for the initial ones. */
  readonly merge: (record: ThrottleRecord) => void;
  /** Called when an operator has deleted the ConfigMap. */
  readonly clear: () => void;
  /** Records older than this, in ms, are ignored and removed. */
  readonly lifetimeMs: number;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Pause between two writes, in ms. */
  readonly pauseMs?: number;
  /** Ms since the epoch. */
  readonly now?: () => number;
}

/** Maximum number of records: they take about half of the maximum size of a ConfigMap. */
const MAX_RECORDS = 1000;

/** Throttle records in one ConfigMap. */
export class SharedRecords {
  readonly #options: SharedRecordsOptions;
  readonly #now: () => number;
  readonly #unwritten = new Map<string, string>();
  /** Records of the write in progress. */
  #batch: ReadonlyMap<string, string> = new Map();
  #stored: Readonly<Record<string, string>> = {};
  readonly #wakeup = new Wakeup();

  constructor(options: SharedRecordsOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Queues a write. The end of a delay is written only if the delay itself was written or queued. Delays double with each
   * failure, so guessing causes few writes.
   */
  save(record: ThrottleRecord): void {
    const { key } = record;
    const isShared = key in this.#stored || this.#unwritten.has(key) || this.#batch.has(key);
    if (record.failures === 0 && !isShared) return;
    this.#unwritten.set(key, encodeRecord(record, this.#options.macs));
    this.#boundUnwritten();
    this.#wakeup.wake();
  }

  /** Watches and writes the ConfigMap until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, namespace, name, log } = this.#options;
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const take = (configMap: unknown): void => this.#take(configMap);
    const following = followObject({ client, log, path, namespace, name }, take, signal);
    await Promise.all([following, this.#writeUntil(signal)]);
  }

  /** Merges the stored records again, after the MAC keys have become available or changed. */
  refresh(): void {
    this.#merge({});
  }

  #take(configMap: unknown): void {
    const before = this.#stored;
    this.#stored = texts(record(configMap)['data']);
    if (configMap === undefined && Object.keys(before).length > 0) {
      this.#unwritten.clear();
      this.#options.clear();
    }
    this.#merge(before);
  }

  #merge(before: Readonly<Record<string, string>>): void {
    const oldest = this.#now() - this.#options.lifetimeMs;
    for (const [key, value] of Object.entries(this.#stored)) {
      if (before[key] === value) continue;
      const decoded = decodeRecord(key, value, this.#options.macs);
      if (decoded && decoded.lastAt > oldest) this.#options.merge(decoded);
    }
  }

  async #writeUntil(signal: AbortSignal): Promise<void> {
    const { log, pauseMs = 1000 } = this.#options;
    const failures = new RepeatedFailure();
    while (!signal.aborted) {
      if (this.#unwritten.size === 0) {
        await this.#wakeup.next(signal);
        continue;
      }
      const batch = new Map(this.#unwritten);
      this.#batch = batch;
      this.#unwritten.clear();
      try {
        await this.#write(batch, signal);
        failures.end();
      } catch (error) {
        if (signal.aborted) return;
        const level = failures.isNews(messageOf(error)) ? 'warn' : 'debug';
        log[level]({ err: error }, 'cannot share sign-in delays with other replicas');
        for (const [key, value] of batch) {
          if (!this.#unwritten.has(key)) this.#unwritten.set(key, value);
        }
        this.#boundUnwritten();
        await pause(pauseMs * 4, signal);
      }
      await pause(pauseMs, signal);
    }
  }

  /** Drops the oldest queued records above MAX_RECORDS, for instance during an outage of the cluster. */
  #boundUnwritten(): void {
    for (const oldest of this.#unwritten.keys()) {
      if (this.#unwritten.size <= MAX_RECORDS) return;
      this.#unwritten.delete(oldest);
    }
  }

  /** Patches only the changed keys, so that replicas do not overwrite each other. */
  async #write(batch: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void> {
    const { client, namespace, name } = this.#options;
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const data = { ...Object.fromEntries(batch), ...this.#removals(batch) };
    const patch = { method: 'PATCH', path: `${path}/${name}`, json: { data }, signal } as const;
    const headers = { 'content-type': 'application/merge-patch+json' };
    try {
      await client.json({ ...patch, headers });
      return;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    const initial = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
    const json = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: initial };
    await client.json({ method: 'POST', path, json, signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
      return client.json({ ...patch, headers });
    });
  }

  /** Keys to remove: invalid and expired records, then those with the fewest failures while there are too many. */
  #removals(batch: ReadonlyMap<string, string>): Readonly<Record<string, null>> {
    const oldest = this.#now() - this.#options.lifetimeMs;
    const removals: Record<string, null> = {};
    const kept: ThrottleRecord[] = [];
    for (const [key, value] of Object.entries(this.#stored)) {
      if (batch.has(key)) continue;
      const decoded = decodeRecord(key, value, this.#options.macs);
      if (decoded && decoded.failures > 0 && decoded.lastAt > oldest) kept.push(decoded);
      else removals[key] = null;
    }
    const excess = kept.length + batch.size - MAX_RECORDS;
    if (excess <= 0) return removals;
    kept.sort((one, other) => one.failures - other.failures || one.lastAt - other.lastAt);
    for (const { key } of kept.slice(0, excess)) removals[key] = null;
    return removals;
  }
}

const PURPOSE = 'login-throttle-record';

/** One line: the MAC over key and record, a space, the record as JSON. */
export function encodeRecord({ key, failures, lastAt, knownSources }: ThrottleRecord, macs: Macs): string {
  const json = JSON.stringify({ failures, lastAt, knownSources });
  return `${macs.mac(PURPOSE, `${key} ${json}`)} ${json}`;
}

/** Returns undefined for a value without a valid MAC. */
export function decodeRecord(key: string, value: string, macs: Macs): ThrottleRecord | undefined {
  const space = value.indexOf(' ');
  const json = value.slice(space + 1);
  if (space < 0 || !macs.checkMac(PURPOSE, `${key} ${json}`, value.slice(0, space))) return undefined;
  const { failures, lastAt, knownSources } = record(JSON.parse(json));
  if (typeof failures !== 'number' || typeof lastAt !== 'number') return undefined;
  const sources = array(knownSources).filter((source) => typeof source === 'string');
  return { key, failures, lastAt, knownSources: sources };
}
