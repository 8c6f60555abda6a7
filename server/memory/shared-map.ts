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
  /** The owners by their number of keys, so that a full map finds the one with the most without a scan. */
  readonly #byCount = new Map<number, Set<string>>();
  #most = 0;

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
    this.#count(owner, keys.size - 1, keys.size);
    if (this.size > this.#maxSize) this.#evict();
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    const keys = entry && this.#owners.get(entry.owner);
    if (!keys) return;
    this.#entries.delete(key);
    keys.delete(key);
    if (keys.size === 0) this.#owners.delete(entry.owner);
    this.#count(entry.owner, keys.size + 1, keys.size);
  }

  #count(owner: string, before: number, now: number): void {
    const old = this.#byCount.get(before);
    old?.delete(owner);
    if (old?.size === 0) this.#byCount.delete(before);
    if (now > 0) this.#byCount.set(now, (this.#byCount.get(now) ?? new Set()).add(owner));
    if (now > before) this.#most = Math.max(this.#most, now);
    else if (before === this.#most && !this.#byCount.has(before)) this.#most = now;
  }

  #evict(): void {
    for (const owner of this.#byCount.get(this.#most) ?? []) {
      for (const oldest of this.#owners.get(owner) ?? []) return this.delete(oldest);
    }
  }
}
