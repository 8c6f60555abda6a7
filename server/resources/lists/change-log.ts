// The recent changes of the objects of one kind, which all selections of the kind share.
import type { SnapshotChanges } from '../../cache/snapshot-differ.ts';

/** Memory of a reference, in bytes. */
const REFERENCE_BYTES = 8;

export class ChangeLog<Facts> {
  readonly #maxBytes: number;
  /** The changes of each snapshot, the oldest first. */
  #changes: SnapshotChanges<Facts>[] = [];
  #bytes = 0;
  #end = 0;

  /** `maxBytes`: maximum memory of old objects, which only the log references. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The position after all changes. */
  get end(): number {
    return this.#end;
  }

  /** Returns true if the log has all changes since a position. */
  has(position: number): boolean {
    return position >= this.#end - this.#changes.length;
  }

  since(position: number): readonly SnapshotChanges<Facts>[] {
    return position === this.#end ? [] : this.#changes.slice(position - this.#end);
  }

  /** Adds changes, and drops the oldest ones beyond the maximum memory. */
  add(changes: SnapshotChanges<Facts>): void {
    this.#end++;
    this.#changes.push(changes);
    this.#bytes += bytesOf(changes);
    let dropped = 0;
    for (const oldest of this.#changes) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#bytes -= bytesOf(oldest);
      dropped++;
    }
    if (dropped > 0) this.#changes = this.#changes.slice(dropped);
  }

  clear(): void {
    this.#changes = [];
    this.#bytes = 0;
  }
}

function bytesOf({ removed, set }: SnapshotChanges<unknown>): number {
  return removed.reduce((sum, { size }) => sum + size, (removed.length + set.length) * REFERENCE_BYTES);
}
