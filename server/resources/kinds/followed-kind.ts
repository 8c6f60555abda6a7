// A kind that is listed on demand: the objects of its copy, and the index for lists.
import type { InformerCache } from '../../cache/informer-cache.ts';
import type { ObjectSnapshot } from '../../cache/object-snapshot.ts';
import type { ObjectHead } from '../../cache/resource-cache.ts';
import type { RevisionProof } from '../../cache/revision-proof.ts';
import { orAborted } from '../../concurrency/or-aborted.ts';
import { pause } from '../../concurrency/pause.ts';
import type { TimeSlicer } from '../../concurrency/time-slicer.ts';
import { exactName, type Kind } from '../kind.ts';
import type { KindProfile } from '../kind-profile.ts';
import { ListIndex } from '../lists/list-index.ts';
import type { ObjectFacts } from '../object-facts.ts';
import type { PrintedProfile } from '../profiles/kind-profiles.ts';
import type { KindFacts } from '../profiles/kind-values.ts';
import type { KindCopy } from './kind-copy.ts';

/** A kind whose lists can be served. */
export interface ListedKind<Facts extends ObjectFacts> {
  readonly kind: Kind;
  readonly profile: KindProfile<Facts>;
  readonly index: ListIndex<Facts>;
  /** `kind` and `apiVersion` of the stored objects. */
  readonly head: ObjectHead;
  /** Returns the current snapshot. Throws ServiceUnavailable before the first list. */
  snapshot(): ObjectSnapshot<Facts>;
  /**
   * Calls `changed` after each change of the objects, and when the kind is not followed any more, until the returned
   * function is called.
   */
  onChange(changed: () => void): () => void;
}

export class FollowedKind implements ListedKind<KindFacts> {
  readonly kind: Kind;
  readonly profile: PrintedProfile;
  readonly index: ListIndex<KindFacts>;
  readonly slicer: TimeSlicer;
  readonly copy: KindCopy;
  readonly #stop = new AbortController();
  /** Times of the start and of the last use, on the clock of performance.now(). */
  readonly startedAt = performance.now();
  usedAt = performance.now();
  /** The caller whose request started it; empty for the server itself. */
  startedBy = '';

  /** `copy`: of the kind, with objects. */
  constructor(kind: Kind, copy: KindCopy, slicer: TimeSlicer) {
    this.kind = kind;
    this.copy = copy;
    this.slicer = slicer;
    this.profile = copy.profile;
    this.index = new ListIndex(this.profile, slicer);
  }

  get synced(): boolean {
    return this.cache.synced && this.cache.content === 'objects';
  }

  get #failure(): unknown {
    return this.copy.informer.failure;
  }

  /** True before the first list or a failure. */
  get loading(): boolean {
    return !this.synced && this.#failure === undefined;
  }

  /** True if the kind needs more memory than its share. During a relist it has its objects twice. */
  get isOverBudget(): boolean {
    const { loadingBytes } = this.cache;
    return (
      Math.max(this.bytes - loadingBytes, loadingBytes) > (this.copy.maxBytes ?? Number.POSITIVE_INFINITY)
    );
  }

  get objects(): number {
    return this.synced ? this.cache.snapshot().size : 0;
  }

  /** Memory of the cache, in bytes. */
  get bytes(): number {
    return this.cache.bytes;
  }

  /** Number of live lists. */
  get liveLists(): number {
    return this.copy.liveLists;
  }

  /** Number of live lists and watches. */
  get watchers(): number {
    return this.copy.watchers;
  }

  get cache(): InformerCache<KindFacts> {
    return this.copy.cache;
  }

  /** Proves that the cache is current. */
  get proof(): RevisionProof {
    return this.copy.informer.proof;
  }

  /** Aborted when the kind is not followed any more. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Time since the last proof that the objects are up to date, in ms. */
  get ageMs(): number {
    return this.copy.ageMs;
  }

  /** True from the failure of the watch until the objects are known to be up to date again. */
  get interrupted(): boolean {
    return this.copy.informer.interrupted;
  }

  get head(): ObjectHead {
    return this.cache.head;
  }

  snapshot(): ObjectSnapshot<KindFacts> {
    return this.cache.snapshot();
  }

  onChange(changed: () => void): () => void {
    const unsubscribe = this.cache.onChange(() => changed());
    const { signal } = this.#stop;
    signal.addEventListener('abort', changed);
    this.copy.liveLists++;
    return () => {
      this.copy.liveLists--;
      signal.removeEventListener('abort', changed);
      unsubscribe();
    };
  }

  stop(): void {
    this.#stop.abort();
  }

  /** Resolves after the first list, after a permanent failure, when the kind is stopped, or after `ms`. */
  async waitUntilSynced(ms: number, signal: AbortSignal): Promise<void> {
    if (this.synced) return;
    const over = new AbortController();
    try {
      await orAborted(
        Promise.race([this.copy.listed, pause(ms, AbortSignal.any([over.signal, signal, this.stopped]))]),
        signal,
      );
    } finally {
      over.abort();
    }
  }

  /** Why there is no list, or none that is up to date. */
  get reason(): string {
    const name = exactName(this.kind);
    const failure = this.#failure;
    const cause = this.copy.reason;
    if (this.copy.forbidden) return cause;
    if (this.synced) return `the list of ${name} is not up to date: ${cause}`;
    return `the list of ${name} is not available yet: ${failure === undefined ? 'the first list takes longer' : cause}`;
  }
}
