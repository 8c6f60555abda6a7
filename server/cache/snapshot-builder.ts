// Builder of a snapshot from the objects in a list response of kube-apiserver.
import type { ReadObject } from './object-reader.ts';
import { Chunk, ObjectSnapshot } from './object-snapshot.ts';
import { type ObjectExtent, writeSpliced } from './object-splice.ts';
import type { ObjectIdentity } from './resource-cache.ts';
import { type FrameFactory, PLAIN_FRAMES, StoredObject, storedAlone } from './stored-object.ts';

interface Placed<Facts> {
  readonly identity: ObjectIdentity<Facts>;
  readonly extent: ObjectExtent;
  readonly at: number;
}

/** Number of inserted objects after which the memory of the snapshot is measured again. */
const MEASURED_OBJECTS = 1_024;

/**
 * Builds a snapshot from a list. Lists of kube-apiserver are sorted, so each object is written directly into the buffer
 * of its chunk. From the first object that is not in order, each object is inserted as a change is: to sort all objects
 * at the end would block the event loop. The builder keeps no references to its input.
 */
export class SnapshotBuilder<Facts> {
  readonly #frames: FrameFactory;
  #chunks: Chunk<Facts>[] = [];
  #size = 0;
  #bytes = 0;
  #identityBytes = 0;
  #lastKey = '';
  /** The snapshot of an unsorted list, and its memory. */
  #unsorted: ObjectSnapshot<Facts> | undefined;
  #unsortedBytes = 0;
  /** Buffer for the current chunk, whose size is not yet known. */
  #scratch = Buffer.alloc(0);
  #used = 0;
  #placed: Placed<Facts>[] = [];

  constructor(frames: FrameFactory = PLAIN_FRAMES) {
    this.#frames = frames;
  }

  /** Memory of the objects so far, in bytes. */
  get bytes(): number {
    return this.#unsorted ? this.#unsortedBytes : this.#bytes + this.#used + this.#identityBytes;
  }

  add(object: ReadObject<Facts>): void {
    const { identity, spliced } = object;
    if (this.#unsorted || identity.key <= this.#lastKey) return this.#insert(object);
    this.#lastKey = identity.key;
    this.#size++;
    this.#identityBytes += identity.size;
    const at = this.#placed.length === 0 ? 0 : this.#used + 1;
    this.#reserve(at + spliced.length);
    if (at > 0) this.#scratch.write(',', this.#used, 'latin1');
    this.#used = writeSpliced(spliced, this.#scratch, at);
    const { length, metadataStart, metadataEnd } = spliced;
    this.#placed.push({ identity, extent: { length, metadataStart, metadataEnd }, at });
    if (this.#placed.length >= this.#frames.objects || this.#used >= this.#frames.bytes) this.#flush();
  }

  build(version: bigint): ObjectSnapshot<Facts> {
    if (this.#unsorted) return this.#unsorted.at(version);
    if (this.#placed.length > 0) this.#flush();
    return new ObjectSnapshot(version, this.#chunks, this.#size, this.#frames);
  }

  /** If a key occurs repeatedly, its last object is used. */
  #insert(read: ReadObject<Facts>): void {
    const { identity } = read;
    const before = this.#unsorted ?? this.build(0n);
    const object = storedAlone(read);
    const after = before.with(0n, object, before.get(identity.key));
    const isMeasured = !this.#unsorted || after.size % MEASURED_OBJECTS === 0;
    this.#unsortedBytes = isMeasured ? after.bytes() : this.#unsortedBytes + object.length + identity.size;
    this.#unsorted = after;
  }

  #reserve(length: number): void {
    if (length <= this.#scratch.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(length, this.#frames.bytes, this.#scratch.length * 2));
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
}
