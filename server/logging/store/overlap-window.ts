// Deduplication of log records in live tails. A live tail reads overlapping time ranges, because some records reach
// the store late.
import { hash } from 'node:crypto';

interface OverlapWindowOptions {
  /** Maximum number of digests; each takes about 150 bytes. */
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
}

interface Entry {
  readonly milliseconds: number;
  /** Number of equal records that were reported as new. */
  reported: number;
  /** Number of equal records in the read `read`. */
  seen: number;
  read: number;
}

/** Share of the digests that are evicted together when the limit is exceeded. */
const EVICTED_SHARE = 0.1;

/** If digests of returned records are evicted, the overlap becomes shorter. */
export class OverlapWindow {
  readonly #limit: number;
  readonly #wallClock: () => number;
  /** By digest, in the order of their first read: about the order of time. */
  readonly #entries = new Map<string, Entry>();
  #read = 0;
  #from = Number.NEGATIVE_INFINITY;
  #floor = Number.NEGATIVE_INFINITY;

  constructor({ limit, wallClock }: OverlapWindowOptions) {
    this.#limit = limit;
    this.#wallClock = wallClock;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Starts a read of the records from `from` on, in milliseconds since the epoch, and drops the digests of earlier records.
   * Returns the time at which the read must start, which is later than `from` if digests were evicted. Earlier records are
   * never reported as new.
   */
  startRead(from: number): number {
    this.#read++;
    this.#from = Math.max(from, this.#floor);
    this.forgetBefore(this.#from);
    return this.#from;
  }

  /** Drops the digests of records before this time, which no later read covers. */
  forgetBefore(milliseconds: number): void {
    for (const [digest, entry] of this.#entries)
      if (entry.milliseconds < milliseconds) this.#entries.delete(digest);
  }

  /**
   * Reports whether the record is new; from then on it is not. `key` identifies the record, `milliseconds` is its time.
   * Equal records are counted: of n equal records in one read, n are reported as new in total over all reads.
   */
  isNew(key: string, milliseconds: number): boolean {
    if (milliseconds < this.#from) return false;
    // 96 bits, one byte per character: V8 keeps no reference to the longer string of a slice this short.
    const digest = hash('sha256', key, 'binary').slice(0, 12);
    let entry = this.#entries.get(digest);
    if (!entry) {
      entry = { milliseconds, reported: 0, seen: 0, read: this.#read };
      this.#entries.set(digest, entry);
      if (this.#entries.size > this.#limit) this.#evict(digest);
    }
    if (entry.read !== this.#read) [entry.read, entry.seen] = [this.#read, 0];
    entry.seen++;
    if (entry.seen <= entry.reported) return false;
    entry.reported = entry.seen;
    return true;
  }

  /** Evicts the oldest digests. The next read starts after the evicted records; the read in progress stays complete. */
  #evict(newest: string): void {
    const now = this.#wallClock();
    const target = this.#limit - Math.floor(this.#limit * EVICTED_SHARE);
    for (const [digest, { milliseconds }] of this.#entries) {
      if (this.#entries.size <= target || digest === newest) return;
      this.#entries.delete(digest);
      // After records of a clock that is ahead, a read could not start without skipping those of the present.
      if (milliseconds <= now) this.#floor = Math.max(this.#floor, milliseconds + 1);
    }
  }
}
