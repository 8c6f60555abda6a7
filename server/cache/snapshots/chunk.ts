import { promisify } from 'node:util';
import { constants, deflateRaw } from 'node:zlib';
import type { CachedObject } from '../objects/cached-object.ts';
import { moveObject } from '../objects/object-reader.ts';
import type { SnapshotPiece } from './snapshot.ts';

const compress = promisify(deflateRaw);
const COMMA = 0x2c;

/** Objects in a chunk: few enough that a change dirties little of a list. Usually a chunk is at least half full. */
export const CHUNK_OBJECTS = 48;
/** With so many objects outside its piece a chunk is made one piece again: what they replaced in it is held for nothing. */
const LOOSE_OBJECTS = 16;
/** Bytes at which a chunk is full although it holds few objects. */
const CHUNK_BYTES = 1 << 20;

/**
 * Some neighbouring objects of a snapshot, never empty. What it holds never changes; where the bytes lie does: once
 * the piece is asked for, the objects become slices of it, so that nothing is in memory twice.
 */
export class Chunk<Facts> implements SnapshotPiece {
  #objects: readonly CachedObject<Facts>[];
  #json: Buffer | undefined;
  /** How many objects have come since the others were made slices of one piece. */
  #loose: number;
  #deflated: Promise<Buffer> | undefined;

  /** `objects`: sorted by key. `json`: their bytes joined by commas, of which they are slices. */
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

  /** Bytes of memory that live as long as this chunk does, over those that its neighbours in time hold as well. */
  get pinnedBytes(): number {
    return this.#json?.length ?? 0;
  }

  /** Where `key` is, or the complement (`~`) of where it would have to be inserted. */
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

  /** What takes this chunk's place when `object` is set: usually one chunk, two when it has grown too large. */
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

  /** What takes this chunk's place when `key`, which it holds, is removed: nothing when it was the last one. */
  without(key: string): Chunk<Facts>[] {
    if (this.#objects.length === 1) return [];
    return [new Chunk(this.#objects.toSpliced(this.search(key), 1), undefined, this.#loose + 1)];
  }

  /** What takes the place of this chunk and of `next`: one piece, or theirs would stay for the few objects left in them. */
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
