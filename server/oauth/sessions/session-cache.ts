// The cache of Session objects, fed by a reflector and by this replica's own writes and deletions, which take effect
// before the watch delivers them.
import type { ReflectorSink, Replacement } from '../../cluster/reflector/reflector-sink.ts';
import { isNewer } from '../../cluster/reflector/resource-version.ts';
import type { ChangeType, EventMetadata } from '../../cluster/reflector/watch-stream.ts';
import { type FoundSession, readSession } from './session-object.ts';

/** All Session objects, parsed, by name and by user. */
export class SessionCache implements ReflectorSink {
  #entries = new Map<string, FoundSession>();
  #ofUser = new Map<string, Set<string>>();
  #lists = 0;
  /** Names of deleted objects by UID, newest last: a response in flight must not restore a deleted object. */
  readonly #removed = new Map<string, string>();
  readonly #removedNames = new Set<string>();

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

  /** Whether the session is known to be deleted; false when the entry was evicted. */
  wasDeleted(id: string): boolean {
    return this.#removedNames.has(id) && !this.#entries.has(id);
  }

  ofUser(user: string): FoundSession[] {
    const found: FoundSession[] = [];
    for (const id of this.#ofUser.get(user) ?? []) {
      const entry = this.#entries.get(id);
      if (entry) found.push(entry);
    }
    return found;
  }

  /**
   * Adds a written object unless the cache has a newer version. `generation` is the one before the write: a list in
   * between may already show the deletion.
   */
  keep(found: FoundSession, generation: number): void {
    if (generation === this.#lists && !this.#removed.has(found.uid)) this.#update(found);
  }

  /** Removes the deleted object with this UID. */
  forget(id: string, uid: string): void {
    this.#remember(uid, id);
    const known = this.#entries.get(id);
    if (known && (uid === '' || known.uid === uid)) this.#drop(known);
  }

  replacement(): Replacement {
    const found: FoundSession[] = [];
    return {
      add: (raw) => {
        found.push(parse(raw));
      },
      commit: () => {
        this.#entries = new Map();
        this.#ofUser = new Map();
        for (const entry of found) if (!this.#removed.has(entry.uid)) this.#set(entry);
        this.#lists++;
      },
    };
  }

  apply(type: ChangeType, raw: Buffer, metadata?: EventMetadata): void {
    // Most events repeat a write of this replica.
    if (type !== 'DELETED' && metadata && this.#has(metadata)) return;
    const found = parse(raw);
    if (type !== 'DELETED') {
      if (!this.#removed.has(found.uid)) this.#update(found);
      return;
    }
    this.#remember(found.uid, found.name);
    const known = this.#entries.get(found.name);
    // The name may have been reused since.
    if (known && !isNewer(known.resourceVersion, found.resourceVersion)) this.#drop(known);
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
    if (this.#has(found)) return;
    const known = this.#entries.get(found.name);
    if (!known || !isNewer(known.resourceVersion, found.resourceVersion)) this.#set(found);
  }

  #set(found: FoundSession): void {
    const known = this.#entries.get(found.name);
    if (known) this.#drop(known);
    this.#entries.set(found.name, found);
    const user = found.session?.user;
    if (user === undefined) return;
    const ids = this.#ofUser.get(user);
    if (ids) ids.add(found.name);
    else this.#ofUser.set(user, new Set([found.name]));
  }

  #drop(found: FoundSession): void {
    this.#entries.delete(found.name);
    const user = found.session?.user;
    const ids = user === undefined ? undefined : this.#ofUser.get(user);
    ids?.delete(found.name);
    if (user !== undefined && ids?.size === 0) this.#ofUser.delete(user);
  }

  #remember(uid: string, name: string): void {
    if (uid === '') return;
    this.#removed.set(uid, name);
    this.#removedNames.add(name);
    if (this.#removed.size <= MAX_REMOVED) return;
    for (const [oldest, its] of this.#removed) {
      this.#removed.delete(oldest);
      this.#removedNames.delete(its);
      return;
    }
  }
}

/** Covers the deletions during the seconds that a response may be in flight. */
const MAX_REMOVED = 10_000;

function parse(raw: Buffer): FoundSession {
  const object: unknown = JSON.parse(raw.toString('utf8'));
  return readSession(object);
}
