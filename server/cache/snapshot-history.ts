import { newExpired } from '../../apis/meta/v1/errors.ts';
import type { ObjectSnapshot } from './object-snapshot.ts';

export interface HistoryBounds {
  readonly snapshots: number;
  readonly ageMs: number;
  /** Memory that only the history keeps alive. */
  readonly bytes: number;
}

interface PastSnapshot<Facts> {
  readonly snapshot: ObjectSnapshot<Facts>;
  readonly at: number;
  /** Bytes that only this snapshot and older ones keep in memory. */
  readonly bytes: number;
}

/** Past snapshots, so that all pages of a list are from one state. */
export class SnapshotHistory<Facts> {
  readonly #bounds: HistoryBounds;
  readonly #now: () => number;
  /** Ordered by version. */
  #kept: PastSnapshot<Facts>[] = [];
  #bytes = 0;

  constructor(bounds: HistoryBounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /** Adds the replaced `snapshot`; `bytes` of it are in no later one. */
  push(snapshot: ObjectSnapshot<Facts>, bytes: number): void {
    this.#kept.push({ snapshot, at: this.#now(), bytes });
    this.#bytes += bytes;
    this.trim();
  }

  trim(): void {
    const oldest = this.#now() - this.#bounds.ageMs;
    let gone = 0;
    for (const { at, bytes } of this.#kept) {
      const fits = this.#kept.length - gone <= this.#bounds.snapshots && this.#bytes <= this.#bounds.bytes;
      if (fits && at >= oldest) break;
      gone++;
      this.#bytes -= bytes;
    }
    if (gone > 0) this.#kept.splice(0, gone);
  }

  clear(): void {
    this.#kept = [];
    this.#bytes = 0;
  }

  /**
   * Returns the state at `version`, which is older than the current snapshot. `version` can be between two snapshots:
   * nothing changed there, and another replica can have seen a bookmark there.
   */
  at(version: bigint): ObjectSnapshot<Facts> {
    let low = 0;
    let high = this.#kept.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#kept[middle]?.snapshot.version ?? version) <= version) low = middle + 1;
      else high = middle;
    }
    const snapshot = this.#kept[low - 1]?.snapshot;
    if (!snapshot) throw newExpired(`the list at resource version ${version} is no longer available`);
    return snapshot.version === version ? snapshot : snapshot.at(version);
  }
}
