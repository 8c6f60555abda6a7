// Builder of a snapshot from the objects in a list response of kube-apiserver.
import type { ReadObject } from './object-reader.ts';
import { Chunk, OBJECT_BYTES, ObjectSnapshot } from './object-snapshot.ts';
import { type ObjectExtent, writeSpliced } from './object-splice.ts';
import type { ObjectIdentity } from './resource-cache.ts';
import { type FrameFactory, PLAIN_FRAMES, StoredObject } from './stored-object.ts';

/** Size of a new chunk. It is below the maximum, so that the next new object does not split the chunk. */
const FILL_BYTES = 512 << 10;

interface Placed<Facts> {
  readonly identity: ObjectIdentity<Facts>;
  readonly extent: ObjectExtent;
  readonly at: number;
}

/**
 * Builds a snapshot from a list. Lists of the cluster are usually sorted, so each object is written directly into the
 * buffer of its chunk. An unsorted list is sorted and copied at the end. The builder keeps no references to its input.
 */
export class SnapshotBuilder<Facts> {
  readonly #frames: FrameFactory;
  #chunks: Chunk<Facts>[] = [];
  #size = 0;
  #bytes = 0;
  #lastKey = '';
  #sorted = true;
  /** Buffer for the current chunk, whose size is not yet known. */
  #scratch = Buffer.alloc(0);
  #used = 0;
  #placed: Placed<Facts>[] = [];

  constructor(frames: FrameFactory = PLAIN_FRAMES) {
    this.#frames = frames;
  }

  /** Memory of the objects so far, in bytes. */
  get bytes(): number {
    return this.#bytes + this.#used + this.#size * OBJECT_BYTES;
  }

  add({ identity, spliced }: ReadObject<Facts>): void {
    this.#sorted &&= this.#lastKey < identity.key;
    this.#lastKey = identity.key;
    this.#size++;
    const at = this.#placed.length === 0 ? 0 : this.#used + 1;
    this.#reserve(at + spliced.length);
    if (at > 0) this.#scratch.write(',', this.#used, 'latin1');
    this.#used = writeSpliced(spliced, this.#scratch, at);
    const { length, metadataStart, metadataEnd } = spliced;
    this.#placed.push({ identity, extent: { length, metadataStart, metadataEnd }, at });
    if (this.#placed.length >= this.#frames.objects || this.#used >= FILL_BYTES) this.#flush();
  }

  build(version: bigint): ObjectSnapshot<Facts> {
    if (this.#placed.length > 0) this.#flush();
    if (!this.#sorted) this.#sort();
    return new ObjectSnapshot(version, this.#chunks, this.#size, this.#frames);
  }

  #reserve(length: number): void {
    if (length <= this.#scratch.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(length, FILL_BYTES, this.#scratch.length * 2));
    this.#scratch.copy(larger, 0, 0, this.#used);
    this.#scratch = larger;
  }

  #flush(): void {
    const frame = this.#frames.frame(this.#scratch.subarray(0, this.#used));
    this.#bytes += frame.size;
    const objects = this.#placed.map(
      ({ identity, extent, at }) => new StoredObject(identity, frame, at, extent),
    );
    this.#chunks.push(new Chunk(objects, this.#frames, frame));
    this.#placed = [];
    this.#used = 0;
  }

  /** Sorts the objects by key. If a key occurs repeatedly, its last object is used. */
  #sort(): void {
    const byKey = new Map<string, StoredObject<Facts>>();
    for (const chunk of this.#chunks) for (const object of chunk.objects) byKey.set(object.key, object);
    const objects = [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    this.#chunks = [];
    for (let i = 0; i < objects.length; i += this.#frames.objects) {
      const chunk = new Chunk(objects.slice(i, i + this.#frames.objects), this.#frames);
      chunk.coalesce();
      this.#chunks.push(chunk);
    }
    this.#size = objects.length;
  }
}
