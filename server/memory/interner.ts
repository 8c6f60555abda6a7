/**
 * Deduplicates equal strings in memory, for example label values of thousands of objects. The interner has a maximum
 * size. When it is full, it evicts all strings, so that unique values such as host names cannot fill it permanently.
 */
export class Interner {
  readonly #limit: number;
  readonly #known = new Map<string, string>();

  constructor(limit = 4096) {
    this.#limit = limit;
  }

  intern(value: string): string {
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    if (this.#known.size >= this.#limit) this.#known.clear();
    this.#known.set(value, value);
    return value;
  }
}
