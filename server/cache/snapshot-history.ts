import { newExpired } from '../../apis/meta/v1/errors.ts';
import type { ObjectSnapshot } from './snapshot.ts';

export interface HistoryBounds {
  readonly snapshots: number;
  readonly ageMs: number;
  /** Memory that only the history keeps alive. */
  readonly bytes: number;
}

interface Kept<Facts> {
  readonly snapshot: ObjectSnapshot<Facts>;
  readonly at: number;
  /** Bytes that only this snapshot and older ones keep alive. */
  readonly bytes: number;
}

/** The snapshots before the newest one, so that the pages of one list come from one state. */
export class SnapshotHistory<Facts> {
  readonly #bounds: HistoryBounds;
  readonly #now: () => number;
  readonly #kept = new Map<bigint, Kept<Facts>>();
  #bytes = 0;

  constructor(bounds: HistoryBounds, now: () => number) {
    this.#bounds = bounds;
    this.#now = now;
  }

  /** `snapshot` has been replaced; `bytes` of it are in no newer one. */
  push(snapshot: ObjectSnapshot<Facts>, bytes: number): void {
    this.#kept.set(snapshot.version, { snapshot, at: this.#now(), bytes });
    this.#bytes += bytes;
    this.trim();
  }

  trim(): void {
    const oldest = this.#now() - this.#bounds.ageMs;
    for (const [version, { at, bytes }] of this.#kept) {
      const fits = this.#kept.size <= this.#bounds.snapshots && this.#bytes <= this.#bounds.bytes;
      if (fits && at >= oldest) return;
      this.#kept.delete(version);
      this.#bytes -= bytes;
    }
  }

  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  at(version: bigint): ObjectSnapshot<Facts> {
    const kept = this.#kept.get(version);
    if (!kept) throw newExpired(`the list at resource version ${version} is no longer kept`);
    return kept.snapshot;
  }
}
