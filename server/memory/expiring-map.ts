// Map with a maximum size that removes entries after a TTL.
import { BoundedMap } from './bounded-map.ts';

export interface ExpiringMapOptions {
  /** Maximum size; the entry that was set longest ago is evicted. */
  readonly most: number;
  /** TTL in ms. */
  readonly ttlMs: number;
  /** Clock in ms. */
  readonly now: () => number;
}

/** A bounded map with a TTL. */
export class ExpiringMap<Key, Value> {
  readonly #ttlMs: number;
  readonly #now: () => number;
  readonly #entries: BoundedMap<Key, { readonly value: Value; readonly until: number }>;

  constructor({ most, ttlMs, now }: ExpiringMapOptions) {
    this.#ttlMs = ttlMs;
    this.#now = now;
    this.#entries = new BoundedMap(most);
  }

  /** Number of entries, including expired entries that are not yet evicted. */
  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    return entry && this.#now() < entry.until ? entry.value : undefined;
  }

  set(key: Key, value: Value): void {
    this.#entries.set(key, { value, until: this.#now() + this.#ttlMs });
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }
}
