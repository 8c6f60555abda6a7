// Deduplication of equal values in memory, for instance the labels of pods. The memory of the stored values is limited.
import { LRUCache } from 'lru-cache';

/** Maximum length of a key. Tenants write the values, and many long ones would fill the memory. */
const MAX_KEY = 1024;
/** Maximum number of characters in all keys. Each kind has several of these caches, outside of the memory budget. */
const MAX_CHARACTERS = 256 << 10;
/** Added to the characters of each value, which limits the number of values with short keys. */
const VALUE_CHARACTERS = 16;

/** Deduplicates equal values in memory, such as the labels of the pods of a workload. A value with a long key is not shared. */
export class SharedValues<Value extends {}> {
  // Without `max`, for which the cache would allocate its memory at once.
  readonly #known = new LRUCache<string, Value>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (_, key) => key.length + VALUE_CHARACTERS,
  });

  /** Returns the first value with this key: by default the string itself, or the JSON of another value. */
  of(value: Value, key = typeof value === 'string' ? value : JSON.stringify(value)): Value {
    if (key.length > MAX_KEY) return value;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#known.set(key, value);
    return value;
  }
}
