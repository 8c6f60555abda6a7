import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Chunk, ObjectSnapshot } from './object-snapshot.ts';
import type { CachedObject } from './resource-cache.ts';

/**
 * Fingerprints of objects and snapshots, equal on all replicas because they depend on the objects only. A
 * resourceVersion is not sufficient: after etcd was restored from a backup, the same numbers return with different
 * content, which the checksum detects.
 */
export class ObjectFingerprints {
  readonly #objects = new WeakMap<CachedObject<unknown>, string>();
  readonly #chunks = new WeakMap<Chunk<unknown>, string>();
  /** By the list of chunks, which snapshots share when only a bookmark is between them. */
  readonly #snapshots = new WeakMap<readonly Chunk<unknown>[], string>();

  of(object: CachedObject<unknown>): string {
    let state = this.#objects.get(object);
    if (state === undefined) {
      state = `${object.uid} ${object.resourceVersion} ${crc32(object.bytes)}`;
      this.#objects.set(object, state);
    }
    return state;
  }

  /** Equal for two snapshots with the same objects. */
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
