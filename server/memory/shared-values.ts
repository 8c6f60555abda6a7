// Deduplication of equal values in memory, for instance the labels of pods. The number of stored values is limited.

/** Maximum length of a key. Tenants write the values, and many long ones would fill the memory. */
const MAX_KEY = 1024;
/** Maximum number of characters in all keys. Each kind has several of these caches, outside of the memory budget. */
const MAX_CHARACTERS = 256 << 10;

/**
 * Deduplicates equal values in memory, such as the labels of the pods of a workload. When it is full, it starts again. A
 * value with a long key is not shared.
 */
export class SharedValues<Value> {
  readonly #limit: number;
  readonly #known = new Map<string, Value>();
  #characters = 0;

  /** `limit`: maximum number of values, so that unique values do not fill the memory. */
  constructor(limit = 16_384) {
    this.#limit = limit;
  }

  /** Returns the first value with this key. Equal values must have equal keys. */
  of(key: string, value: Value): Value {
    if (key.length > MAX_KEY) return value;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#characters += key.length;
    if (this.#known.size >= this.#limit || this.#characters > MAX_CHARACTERS) {
      this.#known.clear();
      this.#characters = key.length;
    }
    this.#known.set(key, value);
    return value;
  }

  /** Returns the first value with the same JSON. */
  json(value: Value): Value {
    return this.of(JSON.stringify(value), value);
  }
}
