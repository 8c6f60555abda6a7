// Memory budget for log lines, shared by all queries, exports and live tails of the store. Nothing is reserved, and
// nothing waits: each share may grow as long as it leaves as much free as it holds.

/** Bytes that a share may always hold, so that each makes progress. */
const FLOOR = 64 << 10;

/**
 * One share alone gets half of `limit`; n shares that take as much as they can get a part of n + 1 each. All shares
 * together hold at most `limit` plus 64 KiB each.
 */
export class MemoryBudget {
  /** Bytes. */
  readonly limit: number;
  held = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** For one query, export or live tail; disposing it returns what it holds. */
  share(): MemoryShare {
    return new MemoryShare(this);
  }
}

export class MemoryShare implements Disposable {
  readonly #budget: MemoryBudget;
  #held = 0;
  #disposed = false;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  get held(): number {
    return this.#held;
  }

  /** Bytes that the share may hold now; it changes with the other shares. */
  get room(): number {
    const { limit, held } = this.#budget;
    return Math.max(FLOOR, (limit - held + this.#held) / 2);
  }

  /** `bytes` is negative to return memory. */
  add(bytes: number): void {
    if (this.#disposed) return;
    this.#held += bytes;
    this.#budget.held += bytes;
  }

  [Symbol.dispose](): void {
    this.add(-this.#held);
    this.#disposed = true;
  }
}
