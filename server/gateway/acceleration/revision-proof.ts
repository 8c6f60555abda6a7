// Proves that a cache is current: it has reached a resourceVersion that kube-apiserver returned after the request
// arrived.
import { recordIn, text } from '../../../apis/reading/unknown-value.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { boundedSignal } from '../../concurrency/bounded-signal.ts';
import { orAborted } from '../../concurrency/or-aborted.ts';
import { sourcePath } from '../../resources/kind.ts';
import type { FollowedKind } from '../../resources/kinds/followed-kind.ts';
import type { Reason } from './cached-read.ts';

/** Part of the list that contains nothing but its resourceVersion and one object's metadata. */
const ACCEPT = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
/** Wait for any cache, in ms. An event of a busy kind arrives earlier. */
const WAIT_MS = 20;
/** Objects for each further ms: a list of kube-apiserver takes about 0.1 ms for each object, four times as long. */
const OBJECTS_PER_MS = 40;
const MAX_WAIT_MS = 2_000;
/** Time in ms in which a watch brings a cache without events up to date (`catchUp`). */
const CATCH_UP_MS = 1_100;

export class RevisionProof {
  readonly #client: Pick<ClusterClient, 'json'>;
  readonly #signal: AbortSignal;
  readonly #reads = new WeakMap<FollowedKind, SharedRead>();

  constructor(client: Pick<ClusterClient, 'json'>, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  /**
   * Resolves when the cache is current. Returns the reason if it does not become current before a list of kube-apiserver would be
   * complete. Throws StatusError if kube-apiserver does not answer.
   */
  async prove(followed: FollowedKind, signal: AbortSignal): Promise<Reason | undefined> {
    const { cache } = followed;
    const waitMs = Math.min(MAX_WAIT_MS, WAIT_MS + followed.objects / OBJECTS_PER_MS);
    // Without events, the cache learns of the current resourceVersion too late.
    if (waitMs < CATCH_UP_MS && followed.ageMs > waitMs) return 'quiet';
    const before = cache.snapshot().version;
    const revision = await orAborted(this.#readOf(followed).next(), signal);
    // etcd was restored, and the cache does not know yet.
    if (BigInt(revision) < before) return 'behind';
    return (await reached(followed, revision, waitMs, signal)) ? undefined : 'behind';
  }

  #readOf(followed: FollowedKind): SharedRead {
    let read = this.#reads.get(followed);
    if (!read) {
      read = new SharedRead(() => this.#revision(followed));
      this.#reads.set(followed, read);
    }
    return read;
  }

  async #revision({ kind }: FollowedKind): Promise<string> {
    const list = await this.#client.json({
      path: `${sourcePath(kind)}?limit=1`,
      headers: { accept: ACCEPT },
      signal: this.#signal,
    });
    return text(recordIn(list, 'metadata')['resourceVersion']);
  }
}

/** Returns true when the cache reaches the resourceVersion, false after `ms`. */
export async function reached(
  { cache }: FollowedKind,
  resourceVersion: string,
  ms: number,
  signal: AbortSignal,
): Promise<boolean> {
  using bounded = boundedSignal(signal, ms);
  try {
    await cache.waitUntil(resourceVersion, bounded.signal);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (bounded.isLate) return false;
    throw error;
  }
}

/** A read whose result is shared by all callers that came before it began. */
class SharedRead {
  readonly #read: () => Promise<string>;
  #running: Promise<unknown> | undefined;
  #next: Promise<string> | undefined;

  constructor(read: () => Promise<string>) {
    this.#read = read;
  }

  /** Returns the result of a read that begins after this call. */
  next(): Promise<string> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<string> {
    // Also collects the callers of this iteration of the event loop.
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
}
