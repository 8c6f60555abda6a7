import { SharedValues } from './shared-values.ts';

/**
 * Deduplicates equal strings in memory, such as label values of thousands of objects. A full interner evicts all
 * strings.
 */
export class Interner {
  readonly #strings: SharedValues<string>;

  constructor(limit = 4096) {
    this.#strings = new SharedValues(limit);
  }

  intern(value: string): string {
    return this.#strings.of(value, value);
  }
}
