import type { CachedObject } from '../objects/cached-object.ts';
import { CHUNK_OBJECTS, Chunk } from './chunk.ts';
import type { Snapshot, SnapshotPiece } from './snapshot.ts';

/**
 * A sorted list of chunks at one resourceVersion. A change copies the chunk it falls into and the list of chunks;
 * everything else is shared between the snapshots.
 */
export class ObjectSnapshot<Facts> implements Snapshot<Facts> {
  readonly resourceVersion: string;
  readonly version: bigint;
  readonly size: number;
  readonly #chunks: readonly Chunk<Facts>[];

  constructor(version: bigint, chunks: readonly Chunk<Facts>[], size: number) {
    this.version = version;
    this.resourceVersion = version.toString();
    this.#chunks = chunks;
    this.size = size;
  }

  get chunks(): readonly Chunk<Facts>[] {
    return this.#chunks;
  }

  get(key: string): CachedObject<Facts> | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)];
    return chunk?.objects[chunk.search(key)];
  }

  *objects(after?: string): Iterable<CachedObject<Facts>> {
    const first = after === undefined ? 0 : this.#chunkOf(after);
    for (let i = first; i < this.#chunks.length; i++) {
      const chunk = this.#chunks[i];
      if (!chunk) return;
      let from = 0;
      if (after !== undefined && i === first) {
        const at = chunk.search(after);
        from = at >= 0 ? at + 1 : ~at;
      }
      // Read once: the chunk may replace them by copies meanwhile.
      const objects = chunk.objects;
      for (let j = from; j < objects.length; j++) {
        const object = objects[j];
        if (object) yield object;
      }
    }
  }

  pieces(): readonly SnapshotPiece[] {
    return this.#chunks;
  }

  /** Bytes that are held for this snapshot alone once the object at `key`, which it holds, is replaced. */
  pinnedBy(key: string): number {
    const chunk = this.#chunks[this.#chunkOf(key)];
    return chunk ? chunk.pinnedBytes || (chunk.objects[chunk.search(key)]?.bytes.length ?? 0) : 0;
  }

  /** The same objects, known to be those of a later resourceVersion. */
  at(version: bigint): ObjectSnapshot<Facts> {
    return new ObjectSnapshot(version, this.#chunks, this.size);
  }

  /** `replaced`: the object of the same key that this snapshot holds. */
  with(
    version: bigint,
    object: CachedObject<Facts>,
    replaced: CachedObject<Facts> | undefined,
  ): ObjectSnapshot<Facts> {
    const i = this.#chunkOf(object.key);
    const chunk = this.#chunks[i];
    const next = chunk ? this.#chunks.toSpliced(i, 1, ...chunk.with(object)) : [new Chunk([object])];
    return new ObjectSnapshot(version, next, this.size + (replaced ? 0 : 1));
  }

  /** Without `key`, which this snapshot holds. A chunk that has become small joins one of its neighbours. */
  without(version: bigint, key: string): ObjectSnapshot<Facts> {
    const i = this.#chunkOf(key);
    const next = this.#chunks.toSpliced(i, 1, ...(this.#chunks[i]?.without(key) ?? []));
    for (const at of [i, i - 1]) {
      const [left, right] = [next[at], next[at + 1]];
      if (!left || !right || left.objects.length + right.objects.length > CHUNK_OBJECTS / 2) continue;
      next.splice(at, 2, left.joined(right));
      break;
    }
    return new ObjectSnapshot(version, next, this.size - 1);
  }

  /** The index of the chunk that holds `key`, or into which it would have to go. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#chunks[middle]?.firstKey ?? '') <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
