// Failures that delay somebody, kept in a ConfigMap that all replicas follow: a restart forgets none of them, and whoever
// is delayed at one replica is delayed at all. Only what has crossed the threshold is written, and each further write for
// the same account comes after twice the time, so that guessing does not cause many writes. The keys are digests and
// the values carry a MAC: reading the ConfigMap reveals no name, writing to it delays nobody.
import type { Logger } from 'pino';
import { isAlreadyExists, isNotFound } from '../../../apis/meta/v1/errors.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { record, texts } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { followObject } from '../../cluster/reflector/followed-object.ts';
import { pause } from '../../concurrency/pause.ts';
import { Wakeup } from '../../concurrency/wakeup.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import type { ThrottleRecord } from './login-throttle.ts';
import { decodeRecord, encodeRecord, type Macs } from './throttle-record.ts';

export interface SharedFailuresOptions {
  readonly client: ClusterClient;
  readonly namespace: string;
  /** Of the ConfigMap. */
  readonly name: string;
  readonly macs: Macs;
  /** Told what others have written, and what was there at the start. */
  readonly merge: (record: ThrottleRecord) => void;
  /** Told when the whole ConfigMap was deleted: an operator wants everybody forgiven. */
  readonly forgive: () => void;
  /** After this time a record is of no more use, in ms. */
  readonly lifetimeMs: number;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Between two writes, in ms. */
  readonly pauseMs?: number;
  /** Ms since the epoch. */
  readonly now?: () => number;
}

/** Half of what a ConfigMap may hold. */
const MAX_RECORDS = 1000;

export class SharedFailures {
  readonly #options: SharedFailuresOptions;
  readonly #now: () => number;
  readonly #unwritten = new Map<string, string>();
  /** What is being written. */
  #batch: ReadonlyMap<string, string> = new Map();
  #stored: Readonly<Record<string, string>> = {};
  readonly #wakeup = new Wakeup();

  constructor(options: SharedFailuresOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** To be written soon; does not wait for it. That a delay is over is told only where it was told that there is one. */
  save(record: ThrottleRecord): void {
    const { key } = record;
    const isTold = key in this.#stored || this.#unwritten.has(key) || this.#batch.has(key);
    if (record.failures === 0 && !isTold) return;
    this.#unwritten.set(key, encodeRecord(record, this.#options.macs));
    this.#boundUnwritten();
    this.#wakeup.wake();
  }

  /** Follows and writes until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, namespace, name, log } = this.#options;
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const take = (configMap: unknown): void => this.#take(configMap);
    const following = followObject({ client, log, path, namespace, name }, take, signal);
    await Promise.all([following, this.#writeUntil(signal)]);
  }

  /** Reads again what was there before the MAC keys were known. */
  refresh(): void {
    this.#merge({});
  }

  #take(configMap: unknown): void {
    const before = this.#stored;
    this.#stored = texts(record(configMap)['data']);
    if (configMap === undefined && Object.keys(before).length > 0) {
      this.#unwritten.clear();
      this.#options.forgive();
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
        log[level]({ err: error }, 'failed sign-ins could not be shared with other replicas');
        for (const [key, value] of batch) {
          if (!this.#unwritten.has(key)) this.#unwritten.set(key, value);
        }
        this.#boundUnwritten();
        await pause(pauseMs * 4, signal);
      }
      await pause(pauseMs, signal);
    }
  }

  /** While the cluster takes nothing, what waits must neither grow forever nor into more than it could take. */
  #boundUnwritten(): void {
    for (const oldest of this.#unwritten.keys()) {
      if (this.#unwritten.size <= MAX_RECORDS) return;
      this.#unwritten.delete(oldest);
    }
  }

  /** Only the members that change, so that replicas do not write over each other. */
  async #write(batch: ReadonlyMap<string, string>, signal: AbortSignal): Promise<void> {
    const { client, namespace, name } = this.#options;
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const data = { ...Object.fromEntries(batch), ...this.#outlived(batch) };
    const patch = { method: 'PATCH', path: `${path}/${name}`, json: { data }, signal } as const;
    const headers = { 'content-type': 'application/merge-patch+json' };
    try {
      await client.json({ ...patch, headers });
      return;
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    const fresh = Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null));
    const json = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data: fresh };
    await client.json({ method: 'POST', path, json, signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
      return client.json({ ...patch, headers });
    });
  }

  /** What is to be removed: records that are of no more use, then the mildest while there are too many. */
  #outlived(batch: ReadonlyMap<string, string>): Readonly<Record<string, null>> {
    const oldest = this.#now() - this.#options.lifetimeMs;
    const removed: Record<string, null> = {};
    const kept: ThrottleRecord[] = [];
    for (const [key, value] of Object.entries(this.#stored)) {
      if (batch.has(key)) continue;
      const decoded = decodeRecord(key, value, this.#options.macs);
      if (decoded && decoded.failures > 0 && decoded.lastAt > oldest) kept.push(decoded);
      else removed[key] = null;
    }
    const excess = kept.length + batch.size - MAX_RECORDS;
    if (excess <= 0) return removed;
    kept.sort((one, other) => one.failures - other.failures || one.lastAt - other.lastAt);
    for (const { key } of kept.slice(0, excess)) removed[key] = null;
    return removed;
  }
}
