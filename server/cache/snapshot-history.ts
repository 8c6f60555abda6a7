// Stores past snapshots of a resource. The number, the age and the memory of the snapshots are bounded.
import { newExpired } from '../../apis/meta/v1/errors.ts';
import type { ObjectSnapshot } from './object-snapshot.ts';

export interface HistoryBounds {
  readonly snapshots: number;
  readonly ageMs: number;
  /** Memory that only the history references, in bytes. */
  readonly bytes: number;
}

interface PastSnapshot<Facts> {
  readonly snapshot: ObjectSnapshot<Facts>;
  readonly at: number;
  /** Number of bytes that only this snapshot and older ones keep in memory. */
  readonly bytes: number;
}

/** Past snapshots, so that all pages of a list are from the same resourceVersion. */
export class SnapshotHistory<Facts> {
  readonly #bounds: HistoryBounds;
  readonly #now: () => number;
  /** Ordered by version. */
  #snapshots: PastSnapshot<Facts>[] = [];
  #bytes = 0;

  constructor(bounds: HistoryBounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /** Memory that only the history references, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the `snapshot` that was current. `bytes`: the number of its bytes that the next snapshot does not share. */
  push(snapshot: ObjectSnapshot<Facts>, bytes: number): void {
    this.#snapshots.push({ snapshot, at: this.#now(), bytes });
    this.#bytes += bytes;
    this.trim();
  }

  trim(): void {
    const oldest = this.#now() - this.#bounds.ageMs;
    let evicted = 0;
    for (const { at, bytes } of this.#snapshots) {
      const fits =
        this.#snapshots.length - evicted <= this.#bounds.snapshots && this.#bytes <= this.#bounds.bytes;
      if (fits && at >= oldest) break;
      evicted++;
      this.#bytes -= bytes;
    }
    if (evicted > 0) this.#snapshots.splice(0, evicted);
  }

  clear(): void {
    this.#snapshots = [];
    this.#bytes = 0;
  }

  /**
   * Returns the snapshot at `version`, which is older than the current one. `version` can be between two snapshots, for
   * example if another replica received a bookmark with this version. The older of the two snapshots is then correct.
   */
  at(version: bigint): ObjectSnapshot<Facts> {
    let low = 0;
    let high = this.#snapshots.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#snapshots[middle]?.snapshot.version ?? version) <= version) low = middle + 1;
      else high = middle;
    }
    const snapshot = this.#snapshots[low - 1]?.snapshot;
    if (!snapshot) throw newExpired(`the list at resource version ${version} is no longer available`);
    return snapshot.version === version ? snapshot : snapshot.at(version);
  }
}
