// Deduplication for followers, which read overlapping ranges of time to find records that reach the store late. Hands
// out each record once, as long as its digest is within the limit.
import { hash } from 'node:crypto';

export interface OverlapWindowOptions {
  /** Maximum number of digests; each takes about 150 bytes. */
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
}

interface Entry {
  readonly milliseconds: number;
  /** Equal records that were handed out. */
  handedOut: number;
  /** Equal records in the read `read`. */
  seen: number;
  read: number;
}

/** Share of the digests that are evicted together when the limit is exceeded. */
const EVICTED_SHARE = 0.1;

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
   * Starts a read of the records from `from` on, in milliseconds since the epoch, and forgets earlier records. Returns
   * where the read has to start: later than `from` when digests were evicted. Records before that are never new.
   */
  startRead(from: number): number {
    this.#read++;
    this.#from = Math.max(from, this.#floor);
    this.forgetBefore(this.#from);
    return this.#from;
  }

  /** For records that no later read covers. */
  forgetBefore(milliseconds: number): void {
    for (const [digest, entry] of this.#entries)
      if (entry.milliseconds < milliseconds) this.#entries.delete(digest);
  }

  /**
   * Whether the record was not handed out yet; it counts as handed out from now on. `key` identifies the record. A read
   * that contains a key n times hands it out n times in all. `milliseconds` is the time of the record.
   */
  isNew(key: string, milliseconds: number): boolean {
    if (milliseconds < this.#from) return false;
    // 96 bits, one byte per character: V8 keeps no reference to the longer string of a slice this short.
    const digest = hash('sha256', key, 'binary').slice(0, 12);
    let entry = this.#entries.get(digest);
    if (!entry) {
      entry = { milliseconds, handedOut: 0, seen: 0, read: this.#read };
      this.#entries.set(digest, entry);
      if (this.#entries.size > this.#limit) this.#evict(digest);
    }
    if (entry.read !== this.#read) [entry.read, entry.seen] = [this.#read, 0];
    entry.seen++;
    if (entry.seen <= entry.handedOut) return false;
    entry.handedOut = entry.seen;
    return true;
  }

  /** The next read starts behind the evicted records. The read in progress stays complete. */
  #evict(newest: string): void {
    const now = this.#wallClock();
    const target = this.#limit - Math.floor(this.#limit * EVICTED_SHARE);
    // A record with a time in the future is in every read until then, and no read can start behind it: it is evicted last.
    for (const isFuture of [false, true]) {
      for (const [digest, { milliseconds }] of this.#entries) {
        if (this.#entries.size <= target || digest === newest) break;
        if (milliseconds > now !== isFuture) continue;
        this.#entries.delete(digest);
        if (!isFuture) this.#floor = Math.max(this.#floor, milliseconds + 1);
      }
      if (this.#entries.size <= this.#limit) return;
    }
  }
}
