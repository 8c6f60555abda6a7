import { type ObjectIdentity, type ReadObject, sliceObject } from './object-reader.ts';
import { Chunk, ObjectSnapshot } from './object-snapshot.ts';
import { type ObjectExtent, writeSpliced } from './object-splice.ts';
import type { CachedObject } from './resource-cache.ts';

/** New chunks have room, so that the next object does not split them. */
const FILL_OBJECTS = 32;
const FILL_BYTES = 512 << 10;

interface Placed<Facts> {
  readonly identity: ObjectIdentity<Facts>;
  readonly extent: ObjectExtent;
  readonly at: number;
}

/**
 * Builds a snapshot from a list. Lists are sorted, so neighbours are written directly into the buffer of their chunk;
 * only an unsorted list is sorted and copied again. Keeps no references to its input.
 */
export class SnapshotBuilder<Facts> {
  #chunks: Chunk<Facts>[] = [];
  #size = 0;
  #lastKey = '';
  #sorted = true;
  /** Buffer for a chunk whose size is not yet known. */
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

  /** Of several objects with the same key the last one is kept. */
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
