// Informer of one resource: a reflector and the cache that the reflector fills.
import type { Logger } from 'pino';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { Freshness } from '../cluster/reflector/freshness.ts';
import { Reflector } from '../cluster/reflector/reflector.ts';
import type { ReflectorObserver } from '../cluster/reflector/reflector-options.ts';
import type { ReflectorTuning } from '../cluster/reflector/reflector-tuning.ts';
import { type ChangeType, eventMetadata, watchStream } from '../cluster/reflector/watch-stream.ts';
import { pause } from '../concurrency/pause.ts';
import { InformerCache } from './informer-cache.ts';
import type { CacheContent, ObjectSource } from './object-reader.ts';
import { RevisionProof } from './revision-proof.ts';
import type { HistoryBounds } from './snapshot-history.ts';
import type { FrameFactory } from './stored-object.ts';
import type { WindowBounds } from './watch-cache.ts';

export interface InformerOptions<Facts> {
  readonly definition: ObjectSource<Facts>;
  readonly client: ClusterClient;
  readonly log: Logger;
  /** Selectors of the list and watch. */
  readonly query?: Readonly<Record<string, string>>;
  readonly window?: Partial<WindowBounds>;
  readonly history?: Partial<HistoryBounds>;
  readonly reflector?: Partial<ReflectorTuning>;
  readonly observer?: ReflectorObserver;
  /** Time limit of a read that waits for a resourceVersion, in ms. */
  readonly waitMs?: number;
  /** A monotonic clock in ms. */
  readonly now?: () => number;
  /** How the bytes are stored; plain by default. */
  readonly frames?: FrameFactory;
  /** Called when the cache grows by about this number of bytes. */
  readonly growing?: (bytes: number) => void;
  /** True for the kind of an aggregated API. */
  readonly aggregated?: boolean;
  /** What the first list stores; objects by default. */
  readonly content?: CacheContent;
}

/**
 * Past events from which a watch can resume. Clients reconnect within seconds; kube-apiserver compacts after five
 * minutes. Without the maximum of memory, 1,024 events of large objects would be gigabytes.
 */
export const WATCH_WINDOW: WindowBounds = { events: 1024, ageMs: 300_000, bytes: 32 << 20 };
/** Past lists, which serve `continue` tokens. The memory counts only objects that the current list no longer contains. */
export const LIST_HISTORY: HistoryBounds = { snapshots: 4096, ageMs: 300_000, bytes: 32 << 20 };
/** Maximum wait of a read for its resourceVersion, in ms: the limit of kube-apiserver. */
export const READ_WAIT_MS = 3_000;

/** A cache of one resource. `run` keeps the cache up to date until the signal is aborted. */
export class Informer<Facts> {
  readonly cache: InformerCache<Facts>;
  /** Proves that the cache is current. */
  readonly proof: RevisionProof;
  readonly #newReflector: () => Reflector;
  readonly #freshness: Freshness;
  #relist = new AbortController();
  /** Pause before the next list. */
  #pauseMs = 0;

  constructor(options: InformerOptions<Facts>) {
    const { definition, client, log, query = {} } = options;
    this.#freshness = new Freshness(options.now);
    const path = definition.source.path;
    this.cache = new InformerCache({
      definition,
      log,
      window: { ...WATCH_WINDOW, ...options.window },
      history: { ...LIST_HISTORY, ...options.history },
      waitMs: options.waitMs ?? READ_WAIT_MS,
      now: options.now ?? (() => performance.now()),
      ...(options.frames ? { frames: options.frames } : {}),
      ...(options.growing ? { growing: options.growing } : {}),
      ...(options.content ? { content: options.content } : {}),
      probe: (target, signal) => this.#probe({ client, path, query }, target, signal),
    });
    this.proof = new RevisionProof(client, path, this.cache);
    const observer = this.#observer(options.observer);
    this.#newReflector = () =>
      new Reflector({
        client,
        path,
        query,
        sink: this.cache,
        log,
        observer,
        aggregated: options.aggregated ?? false,
        ...(options.reflector ? { tuning: options.reflector } : {}),
      });
  }

  /** Time since the last proof that the cache is up to date, in ms. */
  get ageMs(): number {
    return this.#freshness.ageMs;
  }

  /** True from the failure of the watch until the cache is known to be up to date again. */
  get interrupted(): boolean {
    return this.#freshness.interrupted;
  }

  /** Resolves after the first proof that the cache is up to date, or the first failure. */
  get settled(): Promise<void> {
    return this.#freshness.settled;
  }

  /** The last failure since the last proof that the cache is up to date. */
  get failure(): unknown {
    return this.#freshness.failure;
  }

  /** Sets what the cache stores. A list replaces facts by objects; until it is complete, the cache has the facts. */
  setContent(content: CacheContent): void {
    if (content === this.cache.wanted) return;
    const needsList = content === 'objects' || this.cache.loading;
    this.cache.setContent(content);
    if (needsList) this.#restart();
  }

  /** Releases the content of the cache, and lists again after `ms`. `reason`: the failure until then. */
  suspend(ms: number, reason: Error): void {
    this.cache.clear();
    this.#freshness.failed(reason);
    this.#pauseMs = ms;
    this.#restart();
  }

  /** Runs until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const waitMs = this.#pauseMs;
      this.#pauseMs = 0;
      if (waitMs > 0) await pause(waitMs, signal);
      // After setContent and suspend, a new reflector lists again.
      else await this.#newReflector().run(AbortSignal.any([signal, this.#relist.signal]));
    }
  }

  #restart(): void {
    this.#relist.abort();
    this.#relist = new AbortController();
  }

  #observer(observer: ReflectorObserver = {}): ReflectorObserver {
    return {
      ...observer,
      failed: (error) => {
        this.#freshness.failed(error);
        observer.failed?.(error);
      },
      watchBegan: () => {
        this.#freshness.watchBegan();
        observer.watchBegan?.();
      },
      watchEnded: (cause) => {
        this.#freshness.watchEnded(cause);
        observer.watchEnded?.(cause);
      },
      progressed: (resourceVersion) => {
        this.#freshness.progressed();
        observer.progressed?.(resourceVersion);
      },
    };
  }

  async #probe(source: Omit<CatchUpOptions, 'sink'>, target: bigint, signal: AbortSignal): Promise<void> {
    const { cache } = this;
    const epoch = cache.epoch;
    const from = cache.currentResourceVersion;
    if (from === undefined) return;
    // After a relist, the cache can have a different history than the events of this probe.
    const sink: CatchUpSink = {
      apply: (type, object) => epoch === cache.epoch && cache.apply(type, object),
      bookmark: (resourceVersion) => epoch === cache.epoch && cache.bookmark(resourceVersion),
    };
    await catchUp({ ...source, sink }, from, target, signal);
  }
}

/** Receives the events and bookmarks of a probe. The cache ignores versions that it already has. */
interface CatchUpSink {
  apply(type: ChangeType, object: Buffer): void;
  bookmark(resourceVersion: string): void;
}

interface CatchUpOptions {
  readonly client: ClusterClient;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly sink: CatchUpSink;
}

const WATCH_SECONDS = 3;
const LINE_LIMIT = 16 << 20;

/**
 * The probe: brings a cache from its resourceVersion `from` to `target`. An event can be missing for `target`, because
 * it can be the version of an object of another resource. The first request, a list, makes the watch cache of
 * kube-apiserver reach `target`. The second request, a watch, delivers the missed events and a bookmark. Only this
 * bookmark advances the cache, because only the stream of the events proves that they are complete.
 */
async function catchUp(
  { client, path, query, sink }: CatchUpOptions,
  from: string,
  target: bigint,
  signal: AbortSignal,
): Promise<void> {
  await reachTarget(client, path, query, target, signal);
  const events = watchStream(client, {
    path,
    query: { ...query, resourceVersion: from, timeoutSeconds: String(WATCH_SECONDS) },
    signal,
    idleMs: (WATCH_SECONDS + 2) * 1000,
    lineLimit: LINE_LIMIT,
  });
  for await (const { type, object } of events) {
    const { resourceVersion } = eventMetadata(object);
    if (signal.aborted) return;
    if (type === 'BOOKMARK') sink.bookmark(resourceVersion);
    else sink.apply(type, object);
    if (BigInt(resourceVersion) >= target) return;
  }
}

async function reachTarget(
  client: ClusterClient,
  path: string,
  query: Readonly<Record<string, string>>,
  target: bigint,
  signal: AbortSignal,
): Promise<void> {
  const parameters = new URLSearchParams({
    ...query,
    limit: '1',
    resourceVersion: target.toString(),
    resourceVersionMatch: 'NotOlderThan',
  });
  await client.json({
    path: `${path}?${parameters.toString()}`,
    headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' },
    signal,
  });
}
