// Index by name of cluster-scoped objects, filled by a reflector.
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ReflectorSink, Replacement } from './reflector-sink.ts';
import type { ChangeType } from './watch-stream.ts';

interface Entry<T> {
  readonly value: T | undefined;
  readonly uid: string;
  readonly version: bigint;
}

/**
 * An index of objects by name, for resources with many objects that are read one at a time. It stores the values that
 * `read` returns. A client that writes objects passes the results to `put` and `remove`, so that it reads its own
 * writes.
 */
export class ObjectIndex<T> implements ReflectorSink {
  readonly #read: (object: unknown) => T | undefined;
  #entries = new Map<string, Entry<T>>();
  /** Entries of `put` that the reflector has not delivered yet, by name. */
  readonly #writes = new Map<string, Entry<T>>();
  /** Names of removed objects by uid, while the reflector has not delivered the deletion. */
  readonly #deletions = new Map<string, string>();
  /** The reflector has delivered everything up to this resourceVersion. */
  #version = -1n;

  /** `read` returns the value of an object, or undefined to ignore the object. It must not throw. */
  constructor(read: (object: unknown) => T | undefined) {
    this.#read = read;
  }

  /** True after the first list. */
  get synced(): boolean {
    return this.#version >= 0n;
  }

  get(name: string): T | undefined {
    return this.#entries.get(name)?.value;
  }

  *values(): Generator<T> {
    for (const { value } of this.#entries.values()) if (value !== undefined) yield value;
  }

  /** Adds the object of a write response, unless the reflector has delivered this version or a later one. */
  put(object: unknown): void {
    const [name, entry] = this.#parse(object);
    if (!this.synced || entry.version <= this.#version || this.#deletions.has(entry.uid)) return;
    if ((this.#writes.get(name)?.version ?? -1n) >= entry.version) return;
    this.#writes.set(name, entry);
    this.#entries.set(name, entry);
  }

  /** Removes a deleted object with this uid, unless the reflector has already delivered the deletion. */
  remove(name: string, uid: string): void {
    if (uid === '' || this.#entries.get(name)?.uid !== uid) return;
    this.#deletions.set(uid, name);
    this.#writes.delete(name);
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
        // The cluster was restored from a backup, which does not contain the later writes.
        if (version < this.#version) {
          this.#writes.clear();
          this.#deletions.clear();
        }
        this.#dropDeleted(entries);
        for (const [name, entry] of this.#writes) if (entry.version > version) entries.set(name, entry);
        this.#entries = entries;
        this.#reached(version);
      },
    };
  }

  apply(type: ChangeType, raw: Buffer): void {
    const [name, entry] = this.#parse(JSON.parse(raw.toString('utf8')));
    const newest = (this.#writes.get(name)?.version ?? -1n) <= entry.version;
    if (newest && type === 'DELETED') this.#entries.delete(name);
    else if (newest && !this.#deletions.has(entry.uid)) this.#entries.set(name, entry);
    if (type === 'DELETED') this.#deletions.delete(entry.uid);
    this.#reached(entry.version);
  }

  bookmark(resourceVersion: string): void {
    this.#reached(BigInt(resourceVersion));
  }

  #reached(version: bigint): void {
    this.#version = version;
    for (const [name, entry] of this.#writes) if (entry.version <= version) this.#writes.delete(name);
  }

  /**
   * Removes deleted objects from a list that is older than their deletion. If the list does not contain the object, the
   * reflector has delivered the deletion.
   */
  #dropDeleted(entries: Map<string, Entry<T>>): void {
    for (const [uid, name] of this.#deletions) {
      if (entries.get(name)?.uid === uid) entries.delete(name);
      else this.#deletions.delete(uid);
    }
  }

  #parse(object: unknown): [name: string, entry: Entry<T>] {
    const { name, uid, resourceVersion } = recordIn(object, 'metadata');
    if (typeof name !== 'string') throw new SyntaxError('an object without a name');
    if (typeof resourceVersion !== 'string') throw new SyntaxError('an object without a resourceVersion');
    return [name, { value: this.#read(object), uid: text(uid), version: BigInt(resourceVersion) }];
  }
}
