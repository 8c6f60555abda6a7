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
  #held = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get held(): number {
    return this.#held;
  }

  /** For one query, export or live tail; disposing it returns what it holds. */
  share(): MemoryShare {
    return new MemoryShare({
      add: (bytes) => {
        this.#held += bytes;
      },
      roomFor: (own) => Math.max(FLOOR, (this.limit - this.#held + own) / 2),
    });
  }
}

interface Budget {
  readonly add: (bytes: number) => void;
  readonly roomFor: (own: number) => number;
}

export class MemoryShare implements Disposable {
  readonly #budget: Budget;
  #held = 0;
  #disposed = false;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  get held(): number {
    return this.#held;
  }

  /** Bytes that the share may hold now; it changes with the other shares. */
  get room(): number {
    return this.#budget.roomFor(this.#held);
  }

  /** `bytes` is negative to return memory. */
  add(bytes: number): void {
    if (this.#disposed) return;
    this.#held += bytes;
    this.#budget.add(bytes);
  }

  [Symbol.dispose](): void {
    this.add(-this.#held);
    this.#disposed = true;
  }
}
