// Proves that an informer cache is current: it has reached a resourceVersion that kube-apiserver returned after the
// proof was requested.
import { recordIn, text } from '../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { boundedSignal } from '../concurrency/bounded-signal.ts';
import { orAborted } from '../concurrency/or-aborted.ts';

interface ProvenCache {
  readonly currentResourceVersion: string | undefined;
  waitUntil(resourceVersion: string, signal: AbortSignal): Promise<void>;
}

/** A list that contains nothing but its resourceVersion and the metadata of one object. */
const ACCEPT = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

export class RevisionProof {
  readonly #client: Pick<ClusterClient, 'json'>;
  readonly #path: string;
  readonly #cache: ProvenCache;
  #running: Promise<unknown> | undefined;
  #next: Promise<string> | undefined;

  /** `path`: of the list of all objects. */
  constructor(client: Pick<ClusterClient, 'json'>, path: string, cache: ProvenCache) {
    this.#client = client;
    this.#path = path;
    this.#cache = cache;
  }

  /** Resolves with true when the cache is current, with false after `ms`. Throws StatusError for a failed request. */
  async prove(ms: number, signal: AbortSignal): Promise<boolean> {
    const before = this.#cache.currentResourceVersion ?? '0';
    const revision = await orAborted(this.#currentRevision(), signal);
    // etcd was restored, and the cache does not know yet.
    if (BigInt(revision) < BigInt(before)) return false;
    return this.reached(revision, ms, signal);
  }

  /** Resolves with true when the cache reaches the resourceVersion, with false after `ms`. */
  async reached(resourceVersion: string, ms: number, signal: AbortSignal): Promise<boolean> {
    if (this.contains(resourceVersion)) return true;
    using bounded = boundedSignal(signal, ms);
    try {
      await this.#cache.waitUntil(resourceVersion, bounded.signal);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (bounded.isLate) return false;
      throw error;
    }
  }

  /** Returns true if the cache has reached the resourceVersion. */
  contains(resourceVersion: string): boolean {
    return BigInt(this.#cache.currentResourceVersion ?? '0') >= BigInt(resourceVersion);
  }

  /** Returns the result of a request that is sent after this call. All calls before it is sent share it. */
  #currentRevision(): Promise<string> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<string> {
    // Also collects the calls of this iteration of the event loop.
    await (this.#running ?? new Promise((resolve) => setImmediate(resolve)));
    this.#next = undefined;
    const read = this.#read();
    const running = read
      .catch(() => undefined)
      .finally(() => {
        if (this.#running === running) this.#running = undefined;
      });
    this.#running = running;
    return read;
  }

  async #read(): Promise<string> {
    const list = await this.#client.json({
      path: `${this.#path}?limit=1`,
      headers: { accept: ACCEPT },
      // It has several callers, so none of them aborts it; the client limits its time.
      signal: new AbortController().signal,
    });
    return text(recordIn(list, 'metadata')['resourceVersion']);
  }
}
