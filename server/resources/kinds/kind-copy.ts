// The copy of one kind on this replica: its informer, and who needs its objects or its facts.
import type { Logger } from 'pino';
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import { messageOf } from '../../../apis/reading/thrown-value.ts';
import { Informer } from '../../cache/informer.ts';
import type { InformerCache } from '../../cache/informer-cache.ts';
import type { CacheContent } from '../../cache/object-reader.ts';
import type { FrameFactory } from '../../cache/stored-object.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { STALE_AFTER_MS } from '../../cluster/reflector/freshness.ts';
import type { ReflectorObserver } from '../../cluster/reflector/reflector-options.ts';
import { isForbidden } from '../../cluster/reflector/reflector-retry.ts';
import { SHORT_WATCHES } from '../../cluster/reflector/reflector-tuning.ts';
import { RepeatedFailure } from '../../observability/repeated-failure.ts';
import {
  API_SERVICES,
  CUSTOM_RESOURCE_DEFINITIONS,
  exactName,
  type Kind,
  NAMESPACES,
  NODES,
  ROLE_BINDINGS,
  sourcePath,
} from '../kind.ts';
import type { Features } from '../profiles/feature-facts.ts';
import { kindProfile, type PrintedProfile } from '../profiles/kind-profiles.ts';
import type { KindFacts } from '../profiles/kind-values.ts';

export interface KindCopyOptions {
  readonly client: ClusterClient;
  readonly log: Logger;
  /** The domain of the platform, for instance `platform.io`. */
  readonly domain: string;
  /** The features that need facts. */
  readonly features?: Partial<Features>;
  /** How objects are stored; plain by default. */
  readonly frames?: FrameFactory;
  /** Called when a cache grows by about this number of bytes. */
  readonly growing?: (bytes: number) => void;
  /** Maximum memory of a copy, in bytes. The API of nodes has no maximum. */
  readonly maxBytes?: number;
  readonly metrics?: KindMetrics;
  /** A monotonic clock in ms. */
  readonly monotonic?: () => number;
}

/** The metrics of kinds. */
export interface KindMetrics {
  /** `copy` is called at each scrape. */
  observe(kind: Kind, copy: () => KindCopy): ReflectorObserver;
  remove(kind: Kind): void;
}

/**
 * Past events, from which watches resume, and past lists, for the further pages of a list. A client reads them one after
 * another.
 */
const RETENTION = {
  window: { events: 1024, bytes: 8 << 20 },
  history: { snapshots: 1024, ageMs: 60_000, bytes: 8 << 20 },
};

/** The kinds that decide which objects a caller sees: they must not be out of date for long. */
const DECISIVE: ReadonlySet<string> = new Set(
  [NAMESPACES, ROLE_BINDINGS, API_SERVICES, CUSTOM_RESOURCE_DEFINITIONS].map(exactName),
);

/**
 * Status codes of a list that only a change of the cluster can correct. NotFound is not one of them, because
 * kube-apiserver returns it for a moment after a change of a CustomResourceDefinition.
 */
const PERMANENT: ReadonlySet<number> = new Set([403, 405]);

/** A copy for readers of facts. */
export type HeldCopy = Pick<KindCopy, 'cache' | 'synced' | 'ageMs' | 'isStale'>;

export class KindCopy {
  /** As it was at the first `hold`. */
  readonly kind: Kind;
  readonly profile: PrintedProfile;
  /** Number of users, by what they need. */
  readonly #holders: Record<CacheContent, number> = { objects: 0, facts: 0 };
  /** Number of live lists. */
  liveLists = 0;
  readonly informer: Informer<KindFacts>;
  readonly #stop = new AbortController();
  readonly #maxBytes: number | undefined;
  readonly #listBegan = Promise.withResolvers<void>();
  /** Resolved by the first list with the wanted content, and by a permanent failure. */
  #listed = Promise.withResolvers<void>();

  constructor(
    kind: Kind,
    content: CacheContent,
    { client, log, domain, features, frames, growing, maxBytes, metrics, monotonic }: KindCopyOptions,
  ) {
    this.kind = kind;
    this.#maxBytes = maxBytes;
    const failures = new RepeatedFailure();
    this.profile = kindProfile(
      kind,
      domain,
      (err) => {
        if (failures.isNews(messageOf(err))) {
          log.warn({ resource: exactName(kind), err }, 'an object is listed without its facts');
        }
      },
      features,
    );
    const observer = metrics?.observe(kind, () => this) ?? {};
    this.informer = new Informer({
      definition: {
        group: kind.group,
        version: kind.version,
        kind: kind.kind,
        source: { path: sourcePath(kind) },
        bareItems: !kind.custom,
        facts: (object, raw) => this.profile.facts(object, raw),
        reduced: this.profile.reduced,
      },
      client,
      log: log.child({ resource: exactName(kind) }),
      aggregated: kind.apiService?.aggregated ?? false,
      content,
      ...(monotonic ? { now: monotonic } : {}),
      ...(growing ? { growing } : {}),
      // The API of nodes promises the longer retention of the informer, and a get must not decompress its object.
      ...(isNodes(kind) ? {} : { ...RETENTION, ...(frames ? { frames } : {}) }),
      ...(DECISIVE.has(exactName(kind)) ? { reflector: SHORT_WATCHES } : {}),
      observer: {
        ...observer,
        listBegan: () => this.#listBegan.resolve(),
        listed: (way, seconds) => {
          observer.listed?.(way, seconds);
          this.#listed.resolve();
        },
        failed: (error) => {
          observer.failed?.(error);
          this.#listBegan.resolve();
          if (error instanceof StatusError && PERMANENT.has(error.code)) this.#listed.resolve();
        },
      },
    });
  }

  get cache(): InformerCache<KindFacts> {
    return this.informer.cache;
  }

  /** True after the first list, also if the copy has only facts. */
  get synced(): boolean {
    return this.cache.synced;
  }

  /** Number of live lists and watches. */
  get watchers(): number {
    return this.liveLists + this.cache.watchers;
  }

  get objects(): number {
    return this.synced ? this.cache.facts().size : 0;
  }

  /** Memory of the cache, in bytes. */
  get bytes(): number {
    return this.cache.bytes;
  }

  /** True if a list that is not in use can release the objects. The API of nodes always uses theirs. */
  get isReleasable(): boolean {
    return this.#holders.objects > 0 && !isNodes(this.kind);
  }

  /** True if the facts that features hold need more than the maximum. */
  get hasExcessFacts(): boolean {
    const { isReleasable, bytes } = this;
    return !isReleasable && !isNodes(this.kind) && bytes > (this.#maxBytes ?? Number.POSITIVE_INFINITY);
  }

  /** Maximum of `bytes`; undefined for a copy whose objects cannot be released. */
  get maxBytes(): number | undefined {
    return this.isReleasable ? this.#maxBytes : undefined;
  }

  /** True if this server does not have the permission to list or watch the kind. */
  get forbidden(): boolean {
    return isForbidden(this.informer.failure);
  }

  /** Why the copy is not up to date. */
  get reason(): string {
    const { failure } = this.informer;
    if (this.forbidden) {
      return `this server is not allowed to list ${exactName(this.kind)}: grant its ServiceAccount the verbs list and watch`;
    }
    return failure === undefined ? 'the cluster does not respond' : messageOf(failure);
  }

  /** Time since the last proof that the copy is up to date, in ms. */
  get ageMs(): number {
    return this.informer.ageMs;
  }

  /** True before the first list, and without a recent proof that the copy is up to date. */
  get isStale(): boolean {
    return !this.synced || this.ageMs > STALE_AFTER_MS;
  }

  /** True if the copy is stale, and from the failure of the watch until it is known to be up to date again. */
  get isInterrupted(): boolean {
    return this.isStale || this.informer.interrupted;
  }

  /** Resolves when kube-apiserver begins to send the first list, and after a failure. */
  get listBegan(): Promise<void> {
    return this.#listBegan.promise;
  }

  /** Resolves after the first list with the wanted content, and after a permanent failure. */
  get listed(): Promise<void> {
    return this.#listed.promise;
  }

  /** For KindCopies. */
  hold(content: CacheContent): void {
    this.#holders[content]++;
    this.#setContent();
  }

  /** For KindCopies. Returns false, and stops the copy, if it has no users any more. */
  release(content: CacheContent): boolean {
    this.#holders[content]--;
    const { objects, facts } = this.#holders;
    const isHeld = objects + facts > 0;
    if (isHeld) this.#setContent();
    else this.#stop.abort();
    return isHeld;
  }

  #setContent(): void {
    const content = this.#holders.objects > 0 ? 'objects' : 'facts';
    if (content === this.cache.wanted) return;
    if (content === 'objects') this.#listed = Promise.withResolvers();
    this.informer.setContent(content);
  }

  /** Runs until `signal` is aborted or the copy is released; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    await this.informer.run(AbortSignal.any([signal, this.#stop.signal]));
  }
}

function isNodes(kind: Kind): boolean {
  return exactName(kind) === NODES.plural;
}
