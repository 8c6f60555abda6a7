// The memory for lines: one budget for all queries, exports and followers of the store. Nobody reserves any, and nobody
// waits for others to give some back: each may hold more as long as it leaves as much free as it holds.

/** What each may hold, whatever the others do: so all of them make progress, if slowly. */
const FLOOR = 64 << 10;

/**
 * Of `limit` bytes, one alone gets half; of n who want as much as they can get, each a part of n + 1, since who comes
 * later finds less, and who was there first has less when it grows the next time. All together hold no more than
 * `limit`, and 64 KiB for each.
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

  /** For one query, export or follower; given back, with all that it holds, by disposing of it. */
  share(): MemoryShare {
    return new MemoryShare({
      change: (bytes) => {
        this.#held += bytes;
      },
      roomFor: (own) => Math.max(FLOOR, (this.limit - this.#held + own) / 2),
    });
  }
}

interface Others {
  readonly change: (bytes: number) => void;
  readonly roomFor: (own: number) => number;
}

export class MemoryShare implements Disposable {
  readonly #others: Others;
  #held = 0;
  #isOver = false;

  constructor(others: Others) {
    this.#others = others;
  }

  get held(): number {
    return this.#held;
  }

  /** How much it may hold at the moment; asked anew whenever it wants to hold more. */
  get room(): number {
    return this.#others.roomFor(this.#held);
  }

  /** By so many bytes, which may be negative. */
  change(bytes: number): void {
    if (this.#isOver) return;
    this.#held += bytes;
    this.#others.change(bytes);
  }

  [Symbol.dispose](): void {
    this.change(-this.#held);
    this.#isOver = true;
  }
}
