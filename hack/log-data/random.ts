/** Seeded pseudo-random number generator (sfc32). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  constructor(seed: number) {
    this.#a = seed | 0;
    this.#b = (seed ^ 0x9e3779b9) | 0;
    this.#c = 0x243f6a88;
    for (let round = 0; round < 15; round++) this.next();
  }

  /** 32 bits. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** From 0, below 1. */
  fraction(): number {
    return this.next() / 0x1_0000_0000;
  }

  /** From 0, below `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new Error('there is nothing to choose from');
    return choice;
  }

  /** The items in random order. */
  shuffled<T>(items: readonly T[]): T[] {
    return items
      .map((item) => ({ item, place: this.next() }))
      .sort((left, right) => left.place - right.place)
      .map(({ item }) => item);
  }

  /** A random text of `length` characters of the alphabet. */
  text(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet[this.below(alphabet.length)]).join('');
  }

  hex(length: number): string {
    return this.text('0123456789abcdef', length);
  }

  uuid(): string {
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-a${this.hex(3)}-${this.hex(12)}`;
  }
}
