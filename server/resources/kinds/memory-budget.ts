// The memory budget of all caches together: measures them, and selects the kinds whose memory is released.
import type { FollowedKind } from './followed-kind.ts';

interface MemoryBudgetOptions {
  readonly maxBytes: number;
  /** Returns the memory of the caches that are no followed kinds, in bytes. */
  readonly otherBytes: () => number;
  readonly kinds: () => readonly FollowedKind[];
  /** Releases facts that features hold, of kinds over the share of one kind. */
  readonly limitFacts: () => void;
  /** Releases the memory of a kind, which the next request follows again. */
  readonly drop: (kind: FollowedKind) => void;
  /** Releases the memory of a kind, which is not followed for a while. */
  readonly refuse: (kind: FollowedKind) => void;
}

/** Share of the budget that one kind may use. A relist uses it twice for a short time. */
const KIND_SHARE = 0.5;
/** Share of the budget above which the acceleration starts no further kinds. */
const START_SHARE = 0.5;
/** Growth, as a share of the budget, after which the memory is measured. */
const MEASURED_SHARE = 1 / 64;
/** Time in ms after its last use for which a kind is not dropped in favour of another one. */
const GRACE_MS = 10_000;

export class MemoryBudget {
  readonly #options: MemoryBudgetOptions;
  readonly maxKindBytes: number;
  /** Growth of all caches since they were measured, in bytes. */
  #grown = 0;
  /** Memory of the kinds when all caches fitted last. */
  #fitting = new Map<FollowedKind, number>();

  constructor(options: MemoryBudgetOptions) {
    this.#options = options;
    this.maxKindBytes = options.maxBytes * KIND_SHARE;
  }

  /** True if the acceleration may start a further kind. */
  get hasRoom(): boolean {
    return this.#usedBytes < this.#options.maxBytes * START_SHARE;
  }

  /** Called when a cache grows by this number of bytes. */
  growing(bytes: number): void {
    this.#grown += bytes;
    if (this.#grown > this.#options.maxBytes * MEASURED_SHARE) this.enforce();
  }

  /**
   * Releases memory over the budget: kinds over the share of one kind, then the indexes, then kinds without readers that
   * were not used lately, if these are enough. Otherwise it refuses the kind that grew.
   */
  enforce(): void {
    this.#grown = 0;
    const { maxBytes, kinds, limitFacts, drop, refuse } = this.#options;
    limitFacts();
    for (const kind of kinds()) if (kind.isOverBudget) refuse(kind);
    let over = this.#usedBytes - maxBytes;
    for (const { index } of kinds()) {
      if (over <= 0) break;
      over -= index.bytes;
      index.clear();
    }
    for (const kind of this.#idleFor(over)) drop(kind);
    for (let over = this.#usedBytes - maxBytes; over > 0; over = this.#usedBytes - maxBytes) {
      const grown = this.#mostGrown();
      if (!grown) return;
      refuse(grown);
    }
    this.#fitting = new Map(kinds().map((kind) => [kind, kind.bytes]));
  }

  /** Returns kinds without readers, the least recently used first, which free this memory together; none if they cannot. */
  #idleFor(over: number): readonly FollowedKind[] {
    const idleSince = performance.now() - GRACE_MS;
    const idle = this.#options
      .kinds()
      .filter(({ watchers, loading, usedAt }) => watchers === 0 && !loading && usedAt < idleSince)
      .sort((a, b) => a.usedAt - b.usedAt);
    let freed = 0;
    const count = idle.findIndex(({ bytes }) => (freed += bytes) >= over);
    return over <= 0 ? [] : idle.slice(0, count + 1);
  }

  /**
   * Returns the kind that grew most since all caches fitted, of those over an equal share of the budget. So a kind of a tenant that
   * grows does not displace one that has its size, nor a small one that loads.
   */
  #mostGrown(): FollowedKind | undefined {
    const kinds = this.#options.kinds();
    const growthOf = (kind: FollowedKind): number => kind.bytes - (this.#fitting.get(kind) ?? 0);
    const byGrowth = [...kinds].sort((a, b) => growthOf(b) - growthOf(a));
    const share = this.#options.maxBytes / kinds.length;
    return byGrowth.find(({ bytes }) => bytes > share) ?? byGrowth[0];
  }

  get #usedBytes(): number {
    const { otherBytes, kinds } = this.#options;
    return kinds().reduce((sum, { bytes, index }) => sum + bytes + index.bytes, otherBytes());
  }
}
