/**
 * Gives equal strings one place in memory: label values repeat over thousands of objects. Forgets everything when it
 * is full, so that values which never repeat (host names) cannot make it grow.
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
