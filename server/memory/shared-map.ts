// Map with a maximum size that callers share: a full map evicts the oldest entry of the caller with the most.
import { groupOf } from '../admission/network.ts';

interface Owned<Value> {
  readonly owner: string;
  readonly value: Value;
}

export class SharedMap<Value> {
  readonly #maxSize: number;
  readonly #entries = new Map<string, Owned<Value>>();
  /** The keys of each owner, the oldest first. */
  readonly #owners = new Map<string, Set<string>>();

  constructor(maxSize: number) {
    this.#maxSize = maxSize;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Sets the entry for a caller and makes it the newest one, also if the key exists. */
  set(key: string, value: Value, caller: string): void {
    this.delete(key);
    const owner = groupOf(caller);
    this.#entries.set(key, { owner, value });
    const keys = this.#owners.get(owner) ?? new Set();
    this.#owners.set(owner, keys.add(key));
    if (this.size > this.#maxSize) this.#evict();
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    const keys = entry && this.#owners.get(entry.owner);
    if (!keys) return;
    this.#entries.delete(key);
    keys.delete(key);
    if (keys.size === 0) this.#owners.delete(entry.owner);
  }

  #evict(): void {
    let most: ReadonlySet<string> = new Set();
    for (const keys of this.#owners.values()) if (keys.size > most.size) most = keys;
    for (const oldest of most) return this.delete(oldest);
  }
}
