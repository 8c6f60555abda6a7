import { newExpired } from '../../../apis/meta/v1/errors.ts';
import type { Change } from './change.ts';

export interface WindowBounds {
  readonly events: number;
  readonly ageMs: number;
  readonly bytes: number;
}

interface Entry<Facts> {
  readonly change: Change<Facts>;
  readonly at: number;
}

/** The last changes in their order, for watchers that come back. */
export class WatchWindow<Facts> {
  readonly #bounds: WindowBounds;
  readonly #now: () => number;
  /** Every change after this one is in the window. */
  #start: bigint;
  #entries: Entry<Facts>[] = [];
  /** Index of the oldest entry that counts: the array is cut only now and then. */
  #head = 0;
  #bytes = 0;

  /** `start`: the resourceVersion of the list that the changes follow. `now`: a monotonic clock in ms. */
  constructor(start: bigint, bounds: WindowBounds, now: () => number) {
    this.#start = start;
    this.#bounds = bounds;
    this.#now = now;
  }

  get length(): number {
    return this.#entries.length - this.#head;
  }

  push(change: Change<Facts>): void {
    this.#entries.push({ change, at: this.#now() });
    this.#bytes += change.size;
    this.trim();
  }

  /** Forgets what is beyond the bounds. */
  trim(): void {
    const oldest = this.#now() - this.#bounds.ageMs;
    for (;;) {
      const entry = this.#entries[this.#head];
      if (!entry) break;
      const fits = this.length <= this.#bounds.events && this.#bytes <= this.#bounds.bytes;
      if (fits && entry.at >= oldest) break;
      this.#start = entry.change.resourceVersion;
      this.#bytes -= entry.change.size;
      this.#head++;
    }
    // Entries before the head hold their objects until they are cut off.
    if (this.#head > 64 || this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }

  /** The changes after `from`. Throws Expired when some of them are gone. */
  since(from: bigint): Change<Facts>[] {
    if (from < this.#start) throw newExpired(`too old resource version: ${from} (${this.#start})`);
    let low = this.#head;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.change.resourceVersion ?? from) > from) high = middle;
      else low = middle + 1;
    }
    return this.#entries.slice(low).map(({ change }) => change);
  }
}
