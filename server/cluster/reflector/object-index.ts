// Index by name of cluster-scoped objects, filled by a reflector.
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ReflectorSink, Replacement } from './reflector-sink.ts';
import type { ChangeType, EventMetadata } from './watch-stream.ts';

interface Entry<T> {
  readonly value: T | undefined;
  readonly uid: string;
  readonly version: bigint;
}

/** Called after each change of a value: undefined before it was added, and after it was removed. */
export type ValueListener<T> = (before: T | undefined, after: T | undefined) => void;

/**
 * An index of objects by name, for resources with many objects that are read one at a time. It stores the values that
 * `read` returns. A client that writes objects passes the results to `put` and `remove`, so that it reads its own
 * writes.
 */
export class ObjectIndex<T> implements ReflectorSink {
  readonly #read: (object: unknown) => T | undefined;
  readonly #changed: ValueListener<T>;
  #entries = new Map<string, Entry<T>>();
  /** Entries of `put` that the reflector has not delivered yet, by name. */
  readonly #writes = new Map<string, Entry<T>>();
  /** Names of removed objects by uid, while the reflector has not delivered the deletion. */
  readonly #deletions = new Map<string, string>();
  /** The reflector has delivered everything up to this resourceVersion. */
  #version = -1n;

  /** `read` returns the value of an object, or undefined to ignore the object. It must not throw. */
  constructor(read: (object: unknown) => T | undefined, changed: ValueListener<T> = () => undefined) {
    this.#read = read;
    this.#changed = changed;
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

  /**
   * Adds the object of a write response, unless the reflector has delivered this version or a later one. `value`: that of the
   * object, if the caller has already read it.
   */
  put(object: unknown, value?: T): void {
    const [name, entry] = this.#parse(object, value);
    if (!this.synced || entry.version <= this.#version || this.#deletions.has(entry.uid)) return;
    if ((this.#writes.get(name)?.version ?? -1n) >= entry.version) return;
    this.#writes.set(name, entry);
    this.#set(name, entry);
  }

  /** Removes a deleted object with this uid, unless the reflector has already delivered the deletion. */
  remove(name: string, uid: string): void {
    if (uid === '' || this.#entries.get(name)?.uid !== uid) return;
    this.#deletions.set(uid, name);
    this.#writes.delete(name);
    this.#set(name, undefined);
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
        const before = this.#entries;
        this.#entries = entries;
        this.#reached(version);
        for (const [name, { value }] of before) if (!entries.has(name)) this.#report(value, undefined);
        for (const [name, { value }] of entries) this.#report(before.get(name)?.value, value);
      },
    };
  }

  apply(type: ChangeType, raw: Buffer, metadata?: EventMetadata): void {
    // Most events repeat a write of this server, whose value is not read again.
    if (type !== 'DELETED' && metadata && this.#has(metadata)) {
      return this.#reached(BigInt(metadata.resourceVersion));
    }
    const [name, entry] = this.#parse(JSON.parse(raw.toString('utf8')));
    const newest = (this.#writes.get(name)?.version ?? -1n) <= entry.version;
    if (newest && type === 'DELETED') this.#set(name, undefined);
    else if (newest && !this.#deletions.has(entry.uid)) this.#set(name, entry);
    if (type === 'DELETED') this.#deletions.delete(entry.uid);
    this.#reached(entry.version);
  }

  bookmark(resourceVersion: string): void {
    this.#reached(BigInt(resourceVersion));
  }

  #has({ name, uid, resourceVersion }: EventMetadata): boolean {
    const known = this.#entries.get(name);
    return known?.uid === uid && known.version === BigInt(resourceVersion);
  }

  #set(name: string, entry: Entry<T> | undefined): void {
    const before = this.#entries.get(name)?.value;
    if (entry) this.#entries.set(name, entry);
    else this.#entries.delete(name);
    this.#report(before, entry?.value);
  }

  #report(before: T | undefined, after: T | undefined): void {
    if (before !== after) this.#changed(before, after);
  }

  #reached(version: bigint): void {
    this.#version = version;
    for (const [name, entry] of this.#writes) {
      // The writes are almost in the order of their versions, and one that stays too long has no effect.
      if (entry.version > version) return;
      this.#writes.delete(name);
    }
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

  #parse(object: unknown, value?: T): [name: string, entry: Entry<T>] {
    const { name, uid, resourceVersion } = recordIn(object, 'metadata');
    if (typeof name !== 'string') throw new SyntaxError('an object without a name');
    if (typeof resourceVersion !== 'string') throw new SyntaxError('an object without a resourceVersion');
    return [name, { value: value ?? this.#read(object), uid: text(uid), version: BigInt(resourceVersion) }];
  }
}
