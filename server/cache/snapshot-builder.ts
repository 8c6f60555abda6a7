// Builder of a snapshot from the objects in a list response of kube-apiserver.
import { type ObjectIdentity, type ReadObject, sliceObject } from './object-reader.ts';
import { Chunk, ObjectSnapshot } from './object-snapshot.ts';
import { type ObjectExtent, writeSpliced } from './object-splice.ts';
import type { CachedObject } from './resource-cache.ts';

/** Size of a new chunk. It is below the maximum, so that the next new object does not split the chunk. */
const FILL_OBJECTS = 32;
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
  #chunks: Chunk<Facts>[] = [];
  #size = 0;
  #lastKey = '';
  #sorted = true;
  /** Buffer for the current chunk, whose size is not yet known. */
  #scratch = Buffer.alloc(0);
  #used = 0;
  #placed: Placed<Facts>[] = [];

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
    if (this.#placed.length >= FILL_OBJECTS || this.#used >= FILL_BYTES) this.#flush();
  }

  build(version: bigint): ObjectSnapshot<Facts> {
    if (this.#placed.length > 0) this.#flush();
    if (!this.#sorted) this.#sort();
    return new ObjectSnapshot(version, this.#chunks, this.#size);
  }

  #reserve(length: number): void {
    if (length <= this.#scratch.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(length, FILL_BYTES, this.#scratch.length * 2));
    this.#scratch.copy(larger, 0, 0, this.#used);
    this.#scratch = larger;
  }

  #flush(): void {
    const json = Buffer.allocUnsafeSlow(this.#used);
    this.#scratch.copy(json, 0, 0, this.#used);
    const objects = this.#placed.map(({ identity, extent, at }) => sliceObject(identity, extent, json, at));
    this.#chunks.push(new Chunk(objects, json));
    this.#placed = [];
    this.#used = 0;
  }

  /** Sorts the objects by key. If a key occurs repeatedly, its last object is used. */
  #sort(): void {
    const byKey = new Map<string, CachedObject<Facts>>();
    for (const chunk of this.#chunks) for (const object of chunk.objects) byKey.set(object.key, object);
    const objects = [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    this.#chunks = [];
    for (let i = 0; i < objects.length; i += FILL_OBJECTS) {
      const chunk = new Chunk(objects.slice(i, i + FILL_OBJECTS));
      chunk.json();
      this.#chunks.push(chunk);
    }
    this.#size = objects.length;
  }
}
