// The cached Session objects of each user, and the sessions that have ended.
import { LRUCache } from 'lru-cache';
import type { FoundSession } from './session-object.ts';

/** Maximum number of recorded ends: more than clients present tokens of within seconds. */
const MAX_ENDED = 10_000;

export class SessionsByUser {
  readonly #byUser = new Map<string, Set<FoundSession>>();
  readonly #ended = new LRUCache<string, true>({ max: MAX_ENDED });
  readonly #observers = new Set<(ended: FoundSession) => void>();

  of(user: string): FoundSession[] {
    return [...(this.#byUser.get(user) ?? [])];
  }

  /** Whether a session with this id is known to have ended; false when the record was evicted. */
  hasEnded(id: string): boolean {
    return this.#ended.has(id);
  }

  /** Calls `ended` with each object that is known to be deleted. Returns the unsubscribe function. */
  onEnd(ended: (object: FoundSession) => void): () => void {
    this.#observers.add(ended);
    return () => this.#observers.delete(ended);
  }

  /** Records the end of a session that need not be cached. */
  ended(id: string): void {
    this.#ended.set(id, true);
  }

  /** The listener of the index of Session objects. */
  changed(before: FoundSession | undefined, after: FoundSession | undefined): void {
    if (before) this.#drop(before);
    if (after) this.#add(after);
    if (!before || before.uid === after?.uid) return;
    this.ended(before.name);
    for (const observer of this.#observers) observer(before);
  }

  #add(found: FoundSession): void {
    const user = found.session?.user;
    if (user === undefined) return;
    const ofUser = this.#byUser.get(user);
    if (ofUser) ofUser.add(found);
    else this.#byUser.set(user, new Set([found]));
  }

  #drop(found: FoundSession): void {
    const user = found.session?.user ?? '';
    const ofUser = this.#byUser.get(user);
    ofUser?.delete(found);
    if (ofUser?.size === 0) this.#byUser.delete(user);
  }
}
