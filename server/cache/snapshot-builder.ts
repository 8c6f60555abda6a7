import type { CachedObject } from './cached-object.ts';
import { Chunk } from './chunk.ts';
import { placeObject, type ReadObject } from './object-reader.ts';
import { ObjectSnapshot } from './snapshot.ts';

/** A new chunk leaves room, so that the next object does not split it. */
const FILL_OBJECTS = 48;
const FILL_BYTES = 512 << 10;

/**
 * Builds a snapshot from a complete list. Lists come sorted, so neighbours are copied straight into the piece that
 * they share; only a list out of order is sorted and copied again at the end.
 */
export class SnapshotBuilder<Facts> {
  #chunks: Chunk<Facts>[] = [];
  #size = 0;
  #lastKey = '';
  #sorted = true;
  #pending: ReadObject<Facts>[] = [];
  #pendingBytes = 0;

  add(object: ReadObject<Facts>): void {
    const { key } = object.identity;
    this.#sorted &&= this.#lastKey < key;
    this.#lastKey = key;
    this.#pending.push(object);
    this.#pendingBytes += object.spliced.length;
    this.#size++;
    if (this.#pending.length >= FILL_OBJECTS || this.#pendingBytes >= FILL_BYTES) this.#flush();
  }

  build(version: bigint): ObjectSnapshot<Facts> {
    if (this.#pending.length > 0) this.#flush();
    if (!this.#sorted) this.#sort();
    return new ObjectSnapshot(version, this.#chunks, this.#size);
  }

  #flush(): void {
    const json = Buffer.allocUnsafeSlow(this.#pendingBytes + this.#pending.length - 1);
    let at = 0;
    const objects = this.#pending.map(({ identity, spliced }, i) => {
      if (i > 0) at = json.write(',', at, 'latin1') + at;
      const object = placeObject(identity, spliced, json, at);
      at += spliced.length;
      return object;
    });
    this.#chunks.push(new Chunk(objects, json));
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  /** Of objects with the same key the last one stays. */
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
