/** The memory of one query, shared by all who hold lines for it. */
export class HeldBytes {
  readonly #limit: number;
  #held = 0;
  #holders = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  join(): void {
    this.#holders++;
  }

  /** `bytes`: what the leaving one holds no longer. */
  leave(bytes: number): void {
    this.#holders--;
    this.#held -= bytes;
  }

  /** May be negative. */
  change(bytes: number): void {
    this.#held += bytes;
  }

  /**
   * What a holder of so many bytes may keep: undefined while there is room, or while others hold more than their
   * share.
   */
  allowed(bytes: number): number | undefined {
    const share = this.#limit / Math.max(1, this.#holders);
    return this.#held > this.#limit && bytes > share ? share : undefined;
  }
}
