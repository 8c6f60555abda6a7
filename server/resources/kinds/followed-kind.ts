// A kind that the server caches on demand: an informer with compressed objects, and the index for lists.
import type { Logger } from 'pino';
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { Informer } from '../../cache/informer.ts';
import type { InformerCache } from '../../cache/informer-cache.ts';
import type { ObjectSnapshot } from '../../cache/object-snapshot.ts';
import type { ObjectHead } from '../../cache/resource-cache.ts';
import type { RevisionProof } from '../../cache/revision-proof.ts';
import type { PackedFrames } from '../../cache/stored-object.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import type { ReflectorObserver } from '../../cluster/reflector/reflector-options.ts';
import { isForbidden } from '../../cluster/reflector/reflector-retry.ts';
import { orAborted } from '../../concurrency/or-aborted.ts';
import { pause } from '../../concurrency/pause.ts';
import type { TimeSlicer } from '../../concurrency/time-slicer.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import { exactName, type Kind, sourcePath } from '../kind.ts';
import type { KindProfile } from '../kind-profile.ts';
import { ListIndex } from '../lists/list-index.ts';
import type { ObjectFacts } from '../object-facts.ts';
import { kindProfile, type PrintedProfile } from '../profiles/kind-profiles.ts';
import type { KindFacts } from '../profiles/kind-values.ts';
import { failureReason } from './failure-reason.ts';

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

export interface FollowedKindOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  /** The domain of the platform, for instance `platform.io`. */
  readonly domain: string;
  readonly frames: PackedFrames;
  /** Maximum memory of the objects, in bytes. */
  readonly maxBytes: number;
  /** Called before the cache grows by about this number of bytes. */
  readonly growing: (bytes: number) => void;
  readonly slicer: TimeSlicer;
  readonly observer: ReflectorObserver;
}

/** Past events, from which watches resume. */
const WINDOW = { events: 1024, bytes: 8 << 20 };
/** Past lists, for the further pages of a list. A client reads them one after another. */
const HISTORY = { snapshots: 1024, ageMs: 60_000, bytes: 8 << 20 };

/**
 * Status codes of a list that only a change of the cluster can correct. NotFound is not one of them, because
 * kube-apiserver returns it for a moment after a change of a CustomResourceDefinition.
 */
const PERMANENT: ReadonlySet<number> = new Set([403, 405]);

export class FollowedKind implements ListedKind<KindFacts> {
  readonly kind: Kind;
  readonly profile: PrintedProfile;
  readonly index: ListIndex<KindFacts>;
  readonly slicer: TimeSlicer;
  /** Maximum memory of the objects, in bytes. */
  readonly maxBytes: number;
  readonly #informer: Informer<KindFacts>;
  /** Resolved by the first list, and by a permanent failure. */
  readonly #settled = Promise.withResolvers<void>();
  readonly #stop = new AbortController();
  #failure: unknown;
  #liveLists = 0;
  /** Times of the start and of the last use, on the clock of performance.now(). */
  readonly startedAt = performance.now();
  usedAt = performance.now();
  /** The caller whose request started it; empty for the server itself. */
  startedBy = '';

  constructor(kind: Kind, options: FollowedKindOptions) {
    const { client, log, domain, frames, maxBytes, slicer, observer } = options;
    this.kind = kind;
    this.slicer = slicer;
    this.maxBytes = maxBytes;
    const failures = new RepeatedFailure();
    this.profile = kindProfile(kind, domain, (err) => {
      if (failures.isNews(messageOf(err))) {
        log.warn({ resource: exactName(kind), err }, 'an object is listed without its facts');
      }
    });
    this.index = new ListIndex(this.profile, slicer);
    this.#informer = new Informer({
      definition: {
        group: kind.group,
        version: kind.version,
        kind: kind.kind,
        source: { path: sourcePath(kind) },
        bareItems: !kind.custom,
        facts: (object) => this.profile.facts(object),
      },
      client,
      log: log.child({ resource: exactName(kind) }),
      aggregated: kind.apiService?.aggregated ?? false,
      frames,
      growing: options.growing,
      window: WINDOW,
      history: HISTORY,
      observer: {
        ...observer,
        listed: (way, seconds) => {
          observer.listed?.(way, seconds);
          this.#failure = undefined;
          this.#settled.resolve();
        },
        failed: (error) => this.#failed(error),
      },
    });
  }

  get synced(): boolean {
    return this.#informer.cache.synced;
  }

  /** True before the first list or a failure. */
  get loading(): boolean {
    return !this.synced && this.#failure === undefined;
  }

  /** True if this server does not have the permission to list or watch the kind. */
  get forbidden(): boolean {
    return isForbidden(this.#failure);
  }

  /** True if the kind needs more memory than its share. During a relist it has its objects twice. */
  get isOverBudget(): boolean {
    const { loadingBytes } = this.#informer.cache;
    return Math.max(this.bytes - loadingBytes, loadingBytes) > this.maxBytes;
  }

  get objects(): number {
    return this.synced ? this.#informer.cache.snapshot().size : 0;
  }

  /** Memory of the cache, in bytes. */
  get bytes(): number {
    return this.#informer.cache.bytes;
  }

  /** Number of live lists. */
  get liveLists(): number {
    return this.#liveLists;
  }

  /** Number of live lists and watches. */
  get watchers(): number {
    return this.#liveLists + this.cache.watchers;
  }

  get cache(): InformerCache<KindFacts> {
    return this.#informer.cache;
  }

  /** Proves that the cache is current. */
  get proof(): RevisionProof {
    return this.#informer.proof;
  }

  /** Aborted when the kind is not followed any more. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Time since the last proof that the objects are up to date, in ms. */
  get ageMs(): number {
    return this.#informer.ageMs;
  }

  /** True from the failure of the watch until the objects are known to be up to date again. */
  get interrupted(): boolean {
    return this.#informer.interrupted;
  }

  get head(): ObjectHead {
    return this.#informer.cache.head;
  }

  snapshot(): ObjectSnapshot<KindFacts> {
    return this.#informer.cache.snapshot();
  }

  onChange(changed: () => void): () => void {
    const unsubscribe = this.#informer.cache.onChange(changed);
    const { signal } = this.#stop;
    signal.addEventListener('abort', changed);
    this.#liveLists++;
    return () => {
      this.#liveLists--;
      signal.removeEventListener('abort', changed);
      unsubscribe();
    };
  }

  /** Follows the kind until `signal` is aborted or `stop` is called; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#informer.run(AbortSignal.any([signal, this.#stop.signal]));
  }

  stop(): void {
    this.#stop.abort();
    this.#settled.resolve();
  }

  /** Resolves after the first list, after a permanent failure, when the kind is stopped, or after `ms`. */
  async waitUntilSynced(ms: number, signal: AbortSignal): Promise<void> {
    if (this.synced) return;
    const over = new AbortController();
    try {
      await orAborted(
        Promise.race([this.#settled.promise, pause(ms, AbortSignal.any([over.signal, signal]))]),
        signal,
      );
    } finally {
      over.abort();
    }
  }

  #failed(error: unknown): void {
    this.#failure = error;
    if (error instanceof StatusError && PERMANENT.has(error.code)) this.#settled.resolve();
  }

  /** Why there is no list, or none that is up to date. */
  get reason(): string {
    const name = exactName(this.kind);
    const failure = this.#failure;
    const cause = failureReason(name, failure);
    if (this.forbidden) return cause;
    if (this.synced) return `the list of ${name} is not up to date: ${cause}`;
    return `the list of ${name} is not available yet: ${failure === undefined ? 'the first list takes longer' : cause}`;
  }
}
