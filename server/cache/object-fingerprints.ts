// Computes fingerprints of cached objects, for the entity tags (ETag) of responses.
import type { Chunk } from './object-snapshot.ts';
import type { ObjectIdentity } from './resource-cache.ts';

/**
 * Fingerprints of objects. They depend only on the objects, so they are equal on all replicas. A
 * resourceVersion is not sufficient, because after a restore of etcd from a backup, the same resourceVersion can have
 * different content. The checksum in the fingerprint detects this.
 */
export class ObjectFingerprints {
  readonly #chunks = new WeakMap<Chunk<unknown>, string>();

  of({ uid, resourceVersion, checksum }: ObjectIdentity<unknown>): string {
    return `${uid} ${resourceVersion} ${checksum}`;
  }

  /** Returns the fingerprints of all objects of a chunk. Replicas have the same objects in different chunks. */
  ofChunk(chunk: Chunk<unknown>): string {
    let state = this.#chunks.get(chunk);
    if (state === undefined) {
      state = chunk.objects.map(({ identity }) => this.of(identity)).join();
      this.#chunks.set(chunk, state);
    }
    return state;
  }
}
