// Computes hashes of cached objects, for the entity tags (ETag) of responses.
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Chunk, ObjectSnapshot } from './object-snapshot.ts';
import type { CachedObject } from './resource-cache.ts';

/**
 * Fingerprints of objects and snapshots. They depend only on the objects, so they are equal on all replicas. A
 * resourceVersion is not sufficient, because after a restore of etcd from a backup, the same resourceVersion can have
 * different content. The checksum in the fingerprint detects this.
 */
export class ObjectFingerprints {
  readonly #objects = new WeakMap<CachedObject<unknown>, string>();
  readonly #chunks = new WeakMap<Chunk<unknown>, string>();
  /** Keyed by the array of chunks, which snapshots share if only a bookmark is between them. */
  readonly #snapshots = new WeakMap<readonly Chunk<unknown>[], string>();

  of(object: CachedObject<unknown>): string {
    let state = this.#objects.get(object);
    if (state === undefined) {
      state = `${object.uid} ${object.resourceVersion} ${crc32(object.bytes)}`;
      this.#objects.set(object, state);
    }
    return state;
  }

  /** Returns the fingerprint of all objects of a snapshot. */
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
