// Cache of Session objects, filled by a reflector. Writes of this replica take effect in the cache at once.
import { LRUCache } from 'lru-cache';
import type { ReflectorSink, Replacement } from '../../cluster/reflector/reflector-sink.ts';
import { isNewer } from '../../cluster/reflector/resource-version.ts';
import type { ChangeType, EventMetadata } from '../../cluster/reflector/watch-stream.ts';
import { type FoundSession, readSession } from './session-object.ts';

/** Maximum number of recorded deletions: more than happen while a response is in flight. */
const MAX_DELETED = 10_000;

/** All Session objects, parsed, by name and by user. */
export class SessionCache implements ReflectorSink {
  #entries = new Map<string, FoundSession>();
  #byUser = new Map<string, Set<FoundSession>>();
  #lists = 0;
  /** UIDs of deleted objects by name: a response in flight must not restore a deleted object. */
  readonly #deleted = new LRUCache<string, string>({ max: MAX_DELETED });
  readonly #observers = new Set<(ended: FoundSession) => void>();

  /** True once the first list is complete. */
  get synced(): boolean {
    return this.#lists > 0;
  }

  /** Changes with each complete list. */
  get generation(): number {
    return this.#lists;
  }

  all(): Iterable<FoundSession> {
    return this.#entries.values();
  }

  get(id: string): FoundSession | undefined {
    return this.#entries.get(id);
  }

  /** Whether the session is known to be deleted; false when the record was evicted. */
  wasDeleted(id: string): boolean {
    return this.#deleted.has(id) && !this.#entries.has(id);
  }

  ofUser(user: string): FoundSession[] {
    return [...(this.#byUser.get(user) ?? [])];
  }

  /**
   * Adds a written object unless the cache has a newer version. `generation` is the value before the write: a later list
   * may already lack the object because it was deleted.
   */
  put(found: FoundSession, generation: number): void {
    if (generation === this.#lists) this.#update(found);
  }

  /** Calls `ended` with each object that is known to be deleted. Returns the unsubscribe function. */
  onEnd(ended: (object: FoundSession) => void): () => void {
    this.#observers.add(ended);
    return () => this.#observers.delete(ended);
  }

  /** Removes the deleted object with this UID. */
  remove(id: string, uid: string): void {
    if (uid !== '') this.#deleted.set(id, uid);
    const known = this.#entries.get(id);
    if (known && (uid === '' || known.uid === uid)) this.#end(known);
  }

  replacement(): Replacement {
    const found: FoundSession[] = [];
    return {
      add: (raw) => {
        found.push(parse(raw));
      },
      commit: () => {
        const before = this.#entries;
        this.#entries = new Map();
        this.#byUser = new Map();
        for (const entry of found) this.#update(entry);
        for (const entry of before.values()) {
          if (this.#entries.get(entry.name)?.uid !== entry.uid) this.#notify(entry);
        }
        this.#lists++;
      },
    };
  }

  apply(type: ChangeType, raw: Buffer, metadata?: EventMetadata): void {
    // Most events repeat a write of this replica.
    if (type !== 'DELETED' && metadata && this.#has(metadata)) return;
    const found = parse(raw);
    if (type !== 'DELETED') return this.#update(found);
    this.#deleted.set(found.name, found.uid);
    const known = this.#entries.get(found.name);
    // The name may have been reused since.
    if (known && !isNewer(known.resourceVersion, found.resourceVersion)) this.#end(known);
  }

  bookmark(): void {
    // A bookmark changes nothing.
  }

  #has({ name, uid, resourceVersion }: Pick<FoundSession, 'name' | 'uid' | 'resourceVersion'>): boolean {
    const known = this.#entries.get(name);
    return known?.uid === uid && known.resourceVersion === resourceVersion;
  }

  #update(found: FoundSession): void {
    // The MAC of the cached version is already checked.
    if (this.#has(found) || this.#deleted.get(found.name) === found.uid) return;
    const known = this.#entries.get(found.name);
    if (known && isNewer(known.resourceVersion, found.resourceVersion)) return;
    if (known) this.#drop(known);
    this.#entries.set(found.name, found);
    const user = found.session?.user;
    if (user === undefined) return;
    const ofUser = this.#byUser.get(user);
    if (ofUser) ofUser.add(found);
    else this.#byUser.set(user, new Set([found]));
  }

  #end(found: FoundSession): void {
    this.#drop(found);
    this.#notify(found);
  }

  #notify(found: FoundSession): void {
    for (const ended of this.#observers) ended(found);
  }

  #drop(found: FoundSession): void {
    this.#entries.delete(found.name);
    const user = found.session?.user ?? '';
    const ofUser = this.#byUser.get(user);
    ofUser?.delete(found);
    if (ofUser?.size === 0) this.#byUser.delete(user);
  }
}

function parse(raw: Buffer): FoundSession {
  const object: unknown = JSON.parse(raw.toString('utf8'));
  return readSession(object);
}
