import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ReflectorSink, Replacement } from './reflector-sink.ts';
import type { ChangeType } from './watch-stream.ts';

interface Entry<T> {
  readonly value: T | undefined;
  readonly uid: string;
  readonly version: bigint;
}

/**
 * Keeps what `read` makes of each object, by name: for cluster-scoped kinds of which there are many and that change
 * often, but are looked up one at a time. A sink of the reflector. Whoever writes an object shows it with `put`, or
 * with `remove` once it is deleted, and reads it here at once.
 */
export class ObjectIndex<T> implements ReflectorSink {
  readonly #read: (object: unknown) => T | undefined;
  #entries = new Map<string, Entry<T>>();
  /** What was put and has not come from the cluster yet. */
  readonly #ahead = new Map<string, Entry<T>>();
  /** What was removed and is still there for what comes from the cluster: names by uid. */
  readonly #gone = new Map<string, string>();
  /** Everything up to here has come from the cluster. */
  #version = -1n;

  /** `read` gives undefined for an object that is to count as absent; it must not throw. */
  constructor(read: (object: unknown) => T | undefined) {
    this.#read = read;
  }

  /** Whether the first list is complete. */
  get synced(): boolean {
    return this.#version >= 0n;
  }

  get(name: string): T | undefined {
    return this.#entries.get(name)?.value;
  }

  *values(): Generator<T> {
    for (const { value } of this.#entries.values()) if (value !== undefined) yield value;
  }

  /** The cluster's answer to a write. Ignored when that version, or a later one, has already come from the cluster. */
  put(object: unknown): void {
    const [name, entry] = this.#parse(object);
    if (!this.synced || entry.version <= this.#version || this.#gone.has(entry.uid)) return;
    if ((this.#ahead.get(name)?.version ?? -1n) >= entry.version) return;
    this.#ahead.set(name, entry);
    this.#entries.set(name, entry);
  }

  /** The cluster has deleted the object with this uid. Ignored when that has come from the cluster already. */
  remove(name: string, uid: string): void {
    if (uid === '' || this.#entries.get(name)?.uid !== uid) return;
    this.#gone.set(uid, name);
    this.#ahead.delete(name);
    this.#entries.delete(name);
  }

  replacement(): Replacement {
    const entries = new Map<string, Entry<T>>();
    return {
      add: (raw) => {
        const [name, entry] = this.#parse(JSON.parse(raw.toString('utf8')));
        entries.set(name, entry);
      },
      commit: (resourceVersion) => {
        const version = BigInt(resourceVersion);
        // A cluster that was restored from a backup does not know what was written since.
        if (version < this.#version) {
          this.#ahead.clear();
          this.#gone.clear();
        }
        this.#leaveOutGone(entries);
        for (const [name, entry] of this.#ahead) if (entry.version > version) entries.set(name, entry);
        this.#entries = entries;
        this.#reached(version);
      },
    };
  }

  apply(type: ChangeType, raw: Buffer): void {
    const [name, entry] = this.#parse(JSON.parse(raw.toString('utf8')));
    const newest = (this.#ahead.get(name)?.version ?? -1n) <= entry.version;
    if (newest && type === 'DELETED') this.#entries.delete(name);
    else if (newest && !this.#gone.has(entry.uid)) this.#entries.set(name, entry);
    if (type === 'DELETED') this.#gone.delete(entry.uid);
    this.#reached(entry.version);
  }

  bookmark(resourceVersion: string): void {
    this.#reached(BigInt(resourceVersion));
  }

  #reached(version: bigint): void {
    this.#version = version;
    for (const [name, entry] of this.#ahead) if (entry.version <= version) this.#ahead.delete(name);
  }

  /** A list may be older than a deletion. What it does not hold is gone for the cluster, too. */
  #leaveOutGone(entries: Map<string, Entry<T>>): void {
    for (const [uid, name] of this.#gone) {
      if (entries.get(name)?.uid === uid) entries.delete(name);
      else this.#gone.delete(uid);
    }
  }

  #parse(object: unknown): [name: string, entry: Entry<T>] {
    const { name, uid, resourceVersion } = recordIn(object, 'metadata');
    if (typeof name !== 'string') throw new SyntaxError('an object without a name');
    if (typeof resourceVersion !== 'string') throw new SyntaxError('an object without a resourceVersion');
    return [name, { value: this.#read(object), uid: text(uid), version: BigInt(resourceVersion) }];
  }
}
