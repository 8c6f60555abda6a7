/**
 * Deduplicates equal strings in memory: label values repeat over thousands of objects. Clears itself when full, so
 * that unique values (host names) cannot fill it.
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
