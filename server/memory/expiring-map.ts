import { BoundedMap } from './bounded-map.ts';

export interface ExpiringMapOptions {
  /** Entries that are held; beyond that, the one that was set longest ago goes. */
  readonly most: number;
  /** How long an entry counts, in ms. */
  readonly ttlMs: number;
  /** In ms. */
  readonly now: () => number;
}

/** What was learned a moment ago and need not be found out again. */
export class ExpiringMap<Key, Value> {
  readonly #ttlMs: number;
  readonly #now: () => number;
  readonly #entries: BoundedMap<Key, { readonly value: Value; readonly until: number }>;

  constructor({ most, ttlMs, now }: ExpiringMapOptions) {
    this.#ttlMs = ttlMs;
    this.#now = now;
    this.#entries = new BoundedMap(most);
  }

  /** Those that have expired count too, until others take their place. */
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
