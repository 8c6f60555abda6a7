// Snapshot: all objects of a resource at one resourceVersion. Snapshots are immutable, and successive snapshots
// share memory.
import { promisify } from 'node:util';
import { constants, deflateRaw } from 'node:zlib';
import { ownBytes } from '../memory/own-bytes.ts';
import type { CachedObject, ObjectIdentity, Snapshot, SnapshotPiece } from './resource-cache.ts';
import { type Frame, type FrameFactory, PackedFrame, type StoredObject } from './stored-object.ts';

/** Memory of an element of the list of chunks, which each change copies. */
const POINTER_BYTES = 8;

/**
 * A snapshot as a sorted list of chunks. A change creates a new snapshot, which has a new chunk for the changed object
 * and shares all other chunks.
 */
export class ObjectSnapshot<Facts> implements Snapshot<Facts> {
  readonly resourceVersion: string;
  readonly version: bigint;
  readonly size: number;
  readonly #chunks: readonly Chunk<Facts>[];
  readonly #frames: FrameFactory;

  constructor(version: bigint, chunks: readonly Chunk<Facts>[], size: number, frames: FrameFactory) {
    this.version = version;
    this.resourceVersion = version.toString();
    this.#chunks = chunks;
    this.size = size;
    this.#frames = frames;
  }

  get chunks(): readonly Chunk<Facts>[] {
    return this.#chunks;
  }

  /** Memory of the objects, in bytes. */
  bytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.bytes + chunk.identityBytes, 0);
  }

  get(key: string): StoredObject<Facts> | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)];
    return chunk?.objects[chunk.search(key)];
  }

  *objects(after?: string): Iterable<StoredObject<Facts>> {
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

  /** Yields the objects of a namespace, or of all if it is empty, with keys greater than `after`, in arrays of neighbours. */
  *inNamespace(namespace: string, after = ''): Generator<readonly StoredObject<Facts>[]> {
    const prefix = namespace === '' ? '' : `${namespace}/`;
    const first = after > prefix ? `${after}\0` : prefix;
    // The character 0 follows the slash.
    const end = namespace === '' ? '\uffff' : `${namespace}0`;
    for (let i = this.#chunkOf(first); i < this.#chunks.length; i++) {
      const chunk = this.#chunks[i];
      if (!chunk || chunk.firstKey >= end) return;
      const [from, to] = [chunk.search(first), chunk.search(end)];
      yield chunk.objects.slice(from < 0 ? ~from : from, to < 0 ? ~to : to);
    }
  }

  count(namespace: string, after?: string): number {
    return Iterator.from(this.inNamespace(namespace, after)).reduce((sum, { length }) => sum + length, 0);
  }

  pieces(): readonly SnapshotPiece[] {
    return this.#chunks;
  }

  /** Returns the number of bytes that only this snapshot keeps in memory after the object at `key` is replaced. */
  pinnedBy(key: string): number {
    const chunk = this.#chunks[this.#chunkOf(key)];
    const bytes = chunk ? chunk.pinnedBytes || (chunk.objects[chunk.search(key)]?.length ?? 0) : 0;
    return bytes + this.#chunks.length * POINTER_BYTES;
  }

  /** Returns the same objects at a later resourceVersion. */
  at(version: bigint): ObjectSnapshot<Facts> {
    return new ObjectSnapshot(version, this.#chunks, this.size, this.#frames);
  }

  /** Returns a snapshot with `object`. `replaced`: the object with the same key in this snapshot. */
  with(
    version: bigint,
    object: StoredObject<Facts>,
    replaced: CachedObject<Facts> | undefined,
  ): ObjectSnapshot<Facts> {
    const i = this.#chunkOf(object.key);
    const chunk = this.#chunks[i];
    const next = chunk
      ? this.#chunks.toSpliced(i, 1, ...chunk.with(object))
      : [new Chunk([object], this.#frames)];
    return new ObjectSnapshot(version, next, this.size + (replaced ? 0 : 1), this.#frames);
  }

  /** Returns a snapshot without `key`, which this snapshot contains. Neighbouring chunks with few objects and bytes are joined. */
  without(version: bigint, key: string): ObjectSnapshot<Facts> {
    const i = this.#chunkOf(key);
    const next = this.#chunks.toSpliced(i, 1, ...(this.#chunks[i]?.without(key) ?? []));
    for (const at of [i, i - 1]) {
      const [left, right] = [next[at], next[at + 1]];
      if (!left || !right || left.objects.length + right.objects.length > CHUNK_OBJECTS / 2) continue;
      // A change copies a chunk.
      if (left.length() + right.length() > this.#frames.bytes) continue;
      next.splice(at, 2, left.joined(right));
      break;
    }
    return new ObjectSnapshot(version, next, this.size - 1, this.#frames);
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
 * Number of replaced objects after which a chunk is coalesced. Until then, its old frame contains their old versions.
 */
const LOOSE_OBJECTS = 16;
/** The same for packed frames, because the replaced objects are not compressed until then. */
const LOOSE_PACKED_OBJECTS = 4;

/**
 * Neighbouring objects of a snapshot, at least one. The content is immutable, but its frame changes: coalesce() copies
 * the objects into one frame, so that no bytes are in memory twice.
 */
export class Chunk<Facts> implements SnapshotPiece {
  /** Of the objects, for readers that must not keep bytes in memory. */
  readonly identities: readonly ObjectIdentity<Facts>[];
  /** Memory of the identities, in bytes. */
  readonly identityBytes: number;
  /** A field, because each search in a snapshot reads it of a dozen chunks. */
  readonly firstKey: string;
  /** The text of the objects for searches, which the first search sets. A WeakMap would double the time of a search. */
  searchText: string | undefined;
  readonly #frames: FrameFactory;
  #objects: readonly StoredObject<Facts>[];
  /** The frame with exactly these objects, joined by commas. Undefined until they are coalesced. */
  #frame: Frame | undefined;
  /** Objects added since the last coalescing. */
  #loose: number;
  #deflated: Promise<Buffer> | undefined;

  /** `objects`: sorted by key. */
  constructor(objects: readonly StoredObject<Facts>[], frames: FrameFactory, frame?: Frame, loose = 0) {
    this.identities = objects.map(({ identity }) => identity);
    this.identityBytes = this.identities.reduce((sum, { size }) => sum + size, 0);
    this.firstKey = objects[0]?.key ?? '';
    this.#objects = objects;
    this.#frames = frames;
    this.#frame = frame;
    this.#loose = loose;
    const most = objects[0]?.frame.packed ? LOOSE_PACKED_OBJECTS : LOOSE_OBJECTS;
    if (loose >= most) this.coalesce();
  }

  get objects(): readonly StoredObject<Facts>[] {
    return this.#objects;
  }

  /** Memory of the frames, in bytes. */
  get bytes(): number {
    const frames = this.#frame ? [this.#frame] : new Set(this.#objects.map(({ frame }) => frame));
    let sum = 0;
    for (const { size } of frames) sum += size;
    return sum;
  }

  /** Number of bytes that only this chunk keeps in memory, because its predecessor and successor do not share them. */
  get pinnedBytes(): number {
    return this.#frame?.size ?? 0;
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
  with(object: StoredObject<Facts>): Chunk<Facts>[] {
    const at = this.search(object.key);
    const objects = at >= 0 ? this.#objects.with(at, object) : this.#objects.toSpliced(~at, 0, object);
    const bytes = objects.reduce((sum, { length }) => sum + length, 0);
    // A new frame has half of the maximum size, so that the next new object does not split its chunk.
    const isSmall = objects.length <= CHUNK_OBJECTS && bytes <= 2 * this.#frames.bytes;
    if (objects.length <= 1 || isSmall) {
      return [this.#next(objects)];
    }
    const half = objects.length >>> 1;
    return [objects.slice(0, half), objects.slice(half)].map((part) => new Chunk(part, this.#frames));
  }

  /** Returns this chunk without `key`, which it contains; no chunk if `key` was its last object. */
  without(key: string): Chunk<Facts>[] {
    if (this.#objects.length === 1) return [];
    return [this.#next(this.#objects.toSpliced(this.search(key), 1))];
  }

  /**
   * Returns one chunk with the objects of this chunk and of `next`. It is coalesced, which releases the old frames.
   */
  joined(next: Chunk<Facts>): Chunk<Facts> {
    return new Chunk([...this.#objects, ...next.objects], this.#frames, undefined, LOOSE_OBJECTS);
  }

  /** Does not coalesce, because the length of a list is needed before its first byte. */
  length(): number {
    return this.#frame?.length ?? joinedLength(this.#objects);
  }

  checksum(): number {
    return this.coalesce().checksum;
  }

  json(): Buffer {
    return this.coalesce().open();
  }

  deflated(): Promise<Buffer> {
    const frame = this.coalesce();
    if (frame instanceof PackedFrame) return Promise.resolve(frame.deflated);
    const compressed = (): Promise<Buffer> =>
      compress(frame.open(), { finishFlush: constants.Z_SYNC_FLUSH }).then(ownBytes);
    this.#deflated ??= compressed().catch((error: unknown) => {
      this.#deflated = undefined;
      throw error;
    });
    return this.#deflated;
  }

  /** Copies the objects into one frame, unless they are in one. */
  coalesce(): Frame {
    if (this.#frame) return this.#frame;
    const objects = this.#objects;
    this.#loose = 0;
    const json = Buffer.allocUnsafeSlow(joinedLength(objects));
    const starts: number[] = [];
    let at = 0;
    for (const object of objects) {
      if (at > 0) at = json.writeUInt8(COMMA, at);
      starts.push(at);
      at += object.bytes.copy(json, at);
    }
    const frame = this.#frames.frame(json);
    this.#objects = objects.map((object, i) => object.in(frame, starts[i] ?? 0));
    this.#frame = frame;
    return frame;
  }

  #next(objects: readonly StoredObject<Facts>[]): Chunk<Facts> {
    return new Chunk(objects, this.#frames, undefined, this.#loose + 1);
  }
}

/** Length of the objects with commas between them. */
function joinedLength(objects: readonly StoredObject<unknown>[]): number {
  return objects.reduce((sum, { length }) => sum + length, objects.length - 1);
}
