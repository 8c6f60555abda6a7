/**
 * Deduplicates equal strings in memory, such as label values of thousands of objects. A full interner evicts all
 * strings.
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
