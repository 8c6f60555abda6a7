// Maps with a maximum number of entries, or a maximum memory.

/** Map with a maximum size. A full map evicts the entry that was set longest ago. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #maxSize: number;

  constructor(maxSize: number) {
    super();
    this.#maxSize = maxSize;
  }

  /** Sets the entry and makes it the newest one, also if the key exists. */
  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    if (this.size <= this.#maxSize) return this;
    const oldest = this.keys().next();
    if (!oldest.done) this.delete(oldest.value);
    return this;
  }
}

/** A cache with a maximum memory. The least recently used value is evicted first. */
export class SizedCache<Key, Value> {
  readonly #maxBytes: number;
  readonly #sizeOf: (value: Value) => number;
  /** Least recently used first. */
  readonly #values = new Map<Key, Value>();
  #bytes = 0;

  /** `sizeOf`: returns the memory of a value in bytes, always the same. */
  constructor(maxBytes: number, sizeOf: (value: Value) => number) {
    this.#maxBytes = maxBytes;
    this.#sizeOf = sizeOf;
  }

  /** Memory of all values, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: Key): Value | undefined {
    const value = this.#values.get(key);
    if (value === undefined) return undefined;
    this.#values.delete(key);
    this.#values.set(key, value);
    return value;
  }

  /** Adds a value, or replaces the one with this key. A value above the maximum size is not kept. */
  set(key: Key, value: Value): void {
    const known = this.#values.get(key);
    if (known !== undefined) this.#bytes -= this.#sizeOf(known);
    this.#values.delete(key);
    const size = this.#sizeOf(value);
    if (size > this.#maxBytes) return;
    this.#bytes += size;
    this.#values.set(key, value);
    for (const [oldest, other] of this.#values) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#values.delete(oldest);
      this.#bytes -= this.#sizeOf(other);
    }
  }
}
