// Failed attempts that all replicas count together in a ConfigMap. Each write has the condition that no other replica has changed the
// ConfigMap meanwhile, so every failure counts. The ConfigMap contains keyed digests instead of names and addresses.
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { isNotFound, newServiceUnavailable } from '../../../apis/meta/v1/errors.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { optionalText, record, recordIn, texts } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { followObject } from '../../cluster/reflector/followed-object.ts';
import { retryConflicts } from '../../cluster/retry-conflicts.ts';
import { boundedSignal } from '../../concurrency/bounded-signal.ts';
import { pause } from '../../concurrency/pause.ts';
import { Wakeup } from '../../concurrency/wakeup.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import { isRace } from '../users/object-store.ts';
import { type Delays, delaysByKey, type Failures, NO_FAILURES, type ThrottleLimits } from './delays.ts';

/** Failures of an account or a source, or of an account at a known source. */
export interface FailureRecord extends Failures {
  /** Times of the last sign-ins of an account, in ms, by source. */
  readonly known: Readonly<Record<string, number>>;
}

/** Returns the changed record. An error prevents the change, and is thrown to the caller. */
export type FailureChange = (record: FailureRecord) => FailureRecord;

interface SharedFailuresOptions {
  readonly limits: ThrottleLimits;
  readonly client: ClusterClient;
  readonly namespace: string;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

type QueuedChange = PromiseWithResolvers<void> & { readonly key: string; readonly change: FailureChange };

const NAME = 'ks-apiserver-login-throttle';
/** Maximum number of records in the ConfigMap: they take about half of its maximum size. */
export const MAX_RECORDS = 1000;
const SOURCES_PER_ACCOUNT = 8;
/** Precision of the shared times of sign-ins: writing each one would cost more than it is worth. */
const PRECISION_MS = 86_400_000;
const TIMEOUT_MS = 10_000;
/** Maximum number of writes of a change, within the timeout: replicas under attack write all the time. */
const ATTEMPTS = 100;
const NO_RECORD: FailureRecord = { ...NO_FAILURES, known: {} };

export class SharedFailures {
  readonly delaysOf: (key: string) => Delays;
  readonly #options: SharedFailuresOptions;
  readonly #path: string;
  /** Of this replica, and those of the ConfigMap. A full cache evicts the key that was changed longest ago. */
  readonly #records: LRUCache<string, FailureRecord>;
  /** `data` of the ConfigMap. */
  #data: Readonly<Record<string, string>> = {};
  /** resourceVersion of the ConfigMap; undefined if there is none. */
  #version: string | undefined;
  #queue: QueuedChange[] = [];
  readonly #wakeup = new Wakeup();

  constructor(options: SharedFailuresOptions) {
    const { limits, namespace, now } = options;
    this.#options = options;
    this.#path = `/api/v1/namespaces/${namespace}/configmaps`;
    this.#records = new LRUCache({ max: limits.entries });
    this.delaysOf = delaysByKey(limits, now);
  }

  /** Number of keys with failures. */
  get size(): number {
    return this.#records
      .entries()
      .filter(([key, found]) => this.#isCounted(key, found))
      .toArray().length;
  }

  get(key: string): FailureRecord {
    return this.#records.peek(key) ?? this.#decode(this.#data[key]);
  }

  /** Keys of shared records that begin with `prefix`. */
  keys(prefix: string): readonly string[] {
    return Object.keys(this.#data).filter((key) => key.startsWith(prefix));
  }

  /** Changes a record at this replica only. */
  keep(key: string, change: FailureChange): void {
    this.#records.set(key, bounded(change(this.get(key))));
  }

  /** Changes a record for all replicas. Throws ServiceUnavailable if it cannot be written. */
  change(key: string, change: FailureChange): Promise<void> {
    const queued = { key, change, ...Promise.withResolvers<void>() };
    this.#queue.push(queued);
    this.#wakeup.wake();
    return queued.promise;
  }

  /** Watches and writes the ConfigMap until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, namespace, log } = this.#options;
    const changed = (configMap: unknown, isListed: boolean): void =>
      isListed ? this.#take(configMap) : this.#takeNewer(configMap);
    const following = followObject({ client, log, path: this.#path, namespace, name: NAME }, changed, signal);
    await Promise.all([following, this.#writeUntil(signal)]);
  }

  /** The response of a write and the event of another one can arrive in either order. */
  #takeNewer(configMap: unknown): void {
    const version = versionOf(configMap);
    const isOld = version !== undefined && BigInt(version) < BigInt(this.#version ?? 0);
    if (!isOld) this.#take(configMap);
  }

  #take(configMap: unknown): void {
    const { namespace, log } = this.#options;
    const before = this.#data;
    this.#data = texts(record(configMap)['data']);
    this.#version = versionOf(configMap);
    if (configMap === undefined && Object.keys(before).length > 0) {
      log.info({ configMap: `${namespace}/${NAME}` }, 'ConfigMap deleted: all sign-in delays end');
      for (const [key, found] of [...this.#records]) this.#records.set(key, { ...found, ...NO_FAILURES });
    }
    for (const [key, value] of Object.entries(this.#data)) {
      if (before[key] !== value) this.#merge(key, this.#decode(value));
    }
  }

  /** Other replicas get the known sources of an attacked account, so that its user can sign in there too. */
  #merge(key: string, stored: FailureRecord): void {
    this.keep(key, ({ known }) => ({ ...stored, known: latestOf(known, stored.known) }));
    const isNewer = Object.entries(this.get(key).known).some(
      ([source, since]) => since - (stored.known[source] ?? -Infinity) > PRECISION_MS,
    );
    if (isNewer && this.#isCounted(key, stored)) this.change(key, (latest) => latest).catch(() => undefined);
  }

  async #writeUntil(signal: AbortSignal): Promise<void> {
    const failures = new RepeatedFailure();
    while (await this.#wakeup.next(signal)) {
      const batch = this.#queue.splice(0);
      try {
        using bounded = boundedSignal(signal, TIMEOUT_MS);
        await this.#write(batch, bounded.signal);
        failures.end();
      } catch (cause) {
        for (const { reject } of batch)
          reject(newServiceUnavailable('cannot count the attempt', 1, { cause }));
        const level = failures.isNews(messageOf(cause)) ? 'warn' : 'debug';
        this.#options.log[level]({ err: cause }, 'cannot share failed sign-ins with other replicas');
      }
      // Each write stores all records: this bounds the bytes that kube-apiserver stores per second.
      await pause(Object.keys(this.#data).length, signal);
    }
  }

  /** After a conflict with another replica, the changes decide again. */
  async #write(batch: readonly QueuedChange[], signal: AbortSignal): Promise<void> {
    let isStale = false;
    await retryConflicts(
      async () => {
        if (isStale) {
          const read = this.#options.client.json({ path: `${this.#path}/${NAME}`, signal });
          this.#take(
            await read.catch((error: unknown) => (isNotFound(error) ? undefined : Promise.reject(error))),
          );
        }
        isStale = true;
        const changed = new Map<string, FailureRecord>();
        const outcomes = batch.map(({ key, change, resolve, reject }) => {
          try {
            changed.set(key, bounded(change(changed.get(key) ?? this.get(key))));
            return resolve;
          } catch (error) {
            return (): void => reject(error);
          }
        });
        if (changed.size > 0) this.#takeNewer(await this.#send(changed, signal));
        for (const settle of outcomes) settle();
      },
      isRace,
      ATTEMPTS,
    );
  }

  #send(changed: ReadonlyMap<string, FailureRecord>, signal: AbortSignal): Promise<unknown> {
    const { client, namespace } = this.#options;
    const data = Object.fromEntries([...changed].map(([key, content]) => [key, JSON.stringify(content)]));
    const resourceVersion = this.#version;
    if (resourceVersion === undefined) {
      const json = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NAME, namespace }, data };
      return client.json({ method: 'POST', path: this.#path, json, signal });
    }
    return client.json({
      method: 'PATCH',
      path: `${this.#path}/${NAME}`,
      headers: { 'content-type': 'application/merge-patch+json' },
      json: { metadata: { resourceVersion }, data: { ...data, ...this.#removals(changed) } },
      signal,
    });
  }

  /**
   * Keys to remove: invalid and expired records, and while there are too many, those with the fewest failures, at last those of codes,
   * which only an attacker with the password can add.
   */
  #removals(changed: ReadonlyMap<string, FailureRecord>): Readonly<Record<string, null>> {
    const others = Object.keys(this.#data).filter((key) => !changed.has(key));
    const kept = others
      .map((key) => ({ key, stored: this.#decode(this.#data[key]) }))
      .filter(({ key, stored }) => this.#isCounted(key, stored))
      .sort(
        (a, b) =>
          this.delaysOf(b.key).limits.reset - this.delaysOf(a.key).limits.reset ||
          b.stored.failures - a.stored.failures ||
          b.stored.lastAt - a.stored.lastAt,
      )
      .slice(0, Math.max(0, MAX_RECORDS - changed.size));
    const keys = new Set(kept.map(({ key }) => key));
    return Object.fromEntries(others.flatMap((key) => (keys.has(key) ? [] : [[key, null]])));
  }

  #isCounted(key: string, found: FailureRecord): boolean {
    return this.delaysOf(key).count(found) > 0;
  }

  /** An invalid value has no failures. The clock of another replica may be ahead. */
  #decode(value = '{}'): FailureRecord {
    try {
      const { failures, lastAt, known } = record(JSON.parse(value));
      if (typeof failures !== 'number' || typeof lastAt !== 'number') return NO_RECORD;
      const sources = Object.entries(record(known)).flatMap(([source, since]) =>
        typeof since === 'number' ? [[source, since] as const] : [],
      );
      return { failures, lastAt: Math.min(lastAt, this.#options.now()), known: Object.fromEntries(sources) };
    } catch {
      return NO_RECORD;
    }
  }
}

function versionOf(configMap: unknown): string | undefined {
  return optionalText(recordIn(configMap, 'metadata')['resourceVersion']);
}

/** All sources, each with its last sign-in. */
function latestOf(one: FailureRecord['known'], other: FailureRecord['known']): FailureRecord['known'] {
  const all = [...Object.entries(one), ...Object.entries(other)];
  return Object.fromEntries(all.sort(([, a], [, b]) => a - b));
}

/** With the latest known sources only, which are the same at all replicas. */
function bounded({ known, ...failures }: FailureRecord): FailureRecord {
  const latest = Object.entries(known).sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  return { ...failures, known: Object.fromEntries(latest.slice(0, SOURCES_PER_ACCOUNT)) };
}
