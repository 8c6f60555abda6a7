// Deduplication of equal values in memory, for instance the labels of pods. The number of stored values is limited.

/** Maximum number of values, so that unique values do not fill the memory. */
const MAX_VALUES = 16_384;

/** Deduplicates equal values in memory, such as the labels of the pods of a workload. When it is full, it starts again. */
export class SharedValues<Value> {
  readonly #known = new Map<string, Value>();

  /** Returns the first value with this key. Equal values must have equal keys. */
  of(key: string, value: Value): Value {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_VALUES) this.#known.clear();
    this.#known.set(key, value);
    return value;
  }

  /** Returns the first value with the same JSON. */
  json(value: Value): Value {
    return this.of(JSON.stringify(value), value);
  }
}
