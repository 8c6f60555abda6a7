// Snapshot: all objects of a resource at one resourceVersion. Snapshots are immutable, and successive snapshots
// share memory.
import { promisify } from 'node:util';
import { constants, deflateRaw } from 'node:zlib';
import { moveObject } from './object-reader.ts';
import type { CachedObject, Snapshot, SnapshotPiece } from './resource-cache.ts';

/**
 * A snapshot as a sorted list of chunks. A change creates a new snapshot, which has a new chunk for the changed object
 * and shares all other chunks.
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
      // Reads the array once, because json() of the chunk replaces it.
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

  /** Returns the number of bytes that only this snapshot keeps in memory after the object at `key` is replaced. */
  pinnedBy(key: string): number {
    const chunk = this.#chunks[this.#chunkOf(key)];
    return chunk ? chunk.pinnedBytes || (chunk.objects[chunk.search(key)]?.bytes.length ?? 0) : 0;
  }

  /** Returns the same objects at a later resourceVersion. */
  at(version: bigint): ObjectSnapshot<Facts> {
    return new ObjectSnapshot(version, this.#chunks, this.size);
  }

  /** Returns a snapshot with `object`. `replaced`: the object with the same key in this snapshot. */
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

  /** Returns a snapshot without `key`, which this snapshot contains. Small neighbouring chunks are joined. */
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

  /** Returns the index of the chunk for `key`. */
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

const compress = promisify(deflateRaw);
const COMMA = 0x2c;

/**
 * Maximum number of objects in a chunk. It is small, because a change copies a chunk. Chunks are usually at least half
 * full.
 */
export const CHUNK_OBJECTS = 48;
/**
 * Number of replaced objects after which a chunk is coalesced. Until then, its buffer contains their old versions.
 */
const LOOSE_OBJECTS = 16;
/** Maximum size of a chunk, for large objects. */
const CHUNK_BYTES = 1 << 20;

/**
 * Neighbouring objects of a snapshot, at least one. The content is immutable, but its buffers change: json() coalesces
 * the objects into one buffer, and the objects become slices of it, so that no bytes are in memory twice.
 */
export class Chunk<Facts> implements SnapshotPiece {
  #objects: readonly CachedObject<Facts>[];
  #json: Buffer | undefined;
  /** Objects added since the last coalescing. */
  #loose: number;
  #deflated: Promise<Buffer> | undefined;

  /** `objects`: sorted by key. `json`: their bytes joined by commas, of which the objects are slices. */
  constructor(objects: readonly CachedObject<Facts>[], json?: Buffer, loose = 0) {
    this.#objects = objects;
    this.#json = json;
    this.#loose = loose;
    if (loose >= LOOSE_OBJECTS) this.#json = this.#coalesce();
  }

  get objects(): readonly CachedObject<Facts>[] {
    return this.#objects;
  }

  get firstKey(): string {
    return this.#objects[0]?.key ?? '';
  }

  /** Number of bytes that only this chunk keeps in memory, because its predecessor and successor do not share them. */
  get pinnedBytes(): number {
    return this.#json?.length ?? 0;
  }

  /** Returns the index of `key`, or the bitwise complement (`~`) of its insertion index. */
  search(key: string): number {
    const objects = this.#objects;
    let low = 0;
    let high = objects.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = objects[middle]?.key ?? '';
      if (found === key) return middle;
      if (found < key) low = middle + 1;
      else high = middle - 1;
    }
    return ~low;
  }

  /** Returns this chunk with `object` added or replaced. These are two chunks if one exceeds the maximum size. */
  with(object: CachedObject<Facts>): Chunk<Facts>[] {
    const at = this.search(object.key);
    const objects = at >= 0 ? this.#objects.with(at, object) : this.#objects.toSpliced(~at, 0, object);
    const bytes = objects.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (objects.length <= 1 || (objects.length <= CHUNK_OBJECTS && bytes <= CHUNK_BYTES)) {
      return [new Chunk(objects, undefined, this.#loose + 1)];
    }
    const half = objects.length >>> 1;
    return [new Chunk(objects.slice(0, half)), new Chunk(objects.slice(half))];
  }

  /** Returns this chunk without `key`, which it contains; no chunk if `key` was its last object. */
  without(key: string): Chunk<Facts>[] {
    if (this.#objects.length === 1) return [];
    return [new Chunk(this.#objects.toSpliced(this.search(key), 1), undefined, this.#loose + 1)];
  }

  /**
   * Returns one chunk with the objects of this chunk and of `next`. It is coalesced, which releases the old buffers.
   */
  joined(next: Chunk<Facts>): Chunk<Facts> {
    return new Chunk([...this.#objects, ...next.objects], undefined, LOOSE_OBJECTS);
  }

  json(): Buffer {
    this.#json ??= this.#coalesce();
    return this.#json;
  }

  deflated(): Promise<Buffer> {
    this.#deflated ??= compress(this.json(), { finishFlush: constants.Z_SYNC_FLUSH }).catch(
      (error: unknown) => {
        this.#deflated = undefined;
        throw error;
      },
    );
    return this.#deflated;
  }

  #coalesce(): Buffer {
    const objects = this.#objects;
    this.#loose = 0;
    const length = objects.reduce((sum, { bytes }) => sum + bytes.length, objects.length - 1);
    const json = Buffer.allocUnsafeSlow(length);
    let at = 0;
    this.#objects = objects.map((object, i) => {
      if (i > 0) at = json.writeUInt8(COMMA, at);
      const moved = moveObject(object, json, at);
      at += moved.bytes.length;
      return moved;
    });
    return json;
  }
}
