import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { CachedObject } from './cached-object.ts';
import type { Chunk, ObjectSnapshot } from './object-snapshot.ts';

/**
 * Names for states of objects, the same on all replicas, because they are derived from the objects alone. Within one
 * history of the cluster the resourceVersion would do; after etcd was restored from a backup the same numbers come again
 * with different content, which the checksum shows.
 */
export class ObjectFingerprints {
  readonly #objects = new WeakMap<CachedObject<unknown>, string>();
  readonly #chunks = new WeakMap<Chunk<unknown>, string>();
  /** By the list of chunks, which snapshots share when nothing but a bookmark lies between them. */
  readonly #snapshots = new WeakMap<readonly Chunk<unknown>[], string>();

  of(object: CachedObject<unknown>): string {
    let state = this.#objects.get(object);
    if (state === undefined) {
      state = `${object.uid} ${object.resourceVersion} ${crc32(object.bytes)}`;
      this.#objects.set(object, state);
    }
    return state;
  }

  /** Equal for two snapshots with the same objects, however they came about. */
  ofAll({ chunks }: ObjectSnapshot<unknown>): string {
    let state = this.#snapshots.get(chunks);
    if (state === undefined) {
      state = hash('sha256', chunks.map((chunk) => this.#ofChunk(chunk)).join(), 'base64url');
      this.#snapshots.set(chunks, state);
    }
    return state;
  }

  #ofChunk(chunk: Chunk<unknown>): string {
    let state = this.#chunks.get(chunk);
    if (state === undefined) {
      state = chunk.objects.map((object) => this.of(object)).join();
      this.#chunks.set(chunk, state);
    }
    return state;
  }
}
