// Memory limit for the log lines of all queries, exports and live tails over pod logs. No memory is reserved in
// advance.

/** Bytes that each share can hold even if the budget is used up, so that each request makes progress. */
const FLOOR = 64 << 10;

/**
 * If n shares grow to their maximum, each holds 1/(n + 1) of `limit`: a single share half of it, two shares a third
 * each. All shares together hold at most `limit`, plus 64 KiB for each share.
 */
export class MemoryBudget {
  /** Maximum bytes. */
  readonly limit: number;
  /** Bytes that all shares hold. */
  held = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Creates the share of one query, export or live tail. Disposing it frees its memory. */
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

  /** Maximum bytes that the share can hold now. It depends on the bytes that other shares hold. */
  get room(): number {
    const { limit, held } = this.#budget;
    return Math.max(FLOOR, (limit - held + this.#held) / 2);
  }

  /** Accounts for allocated bytes; negative for freed bytes. */
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
