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
