import type { Logger } from 'pino';
import type { ClusterClient } from '../cluster/connection/client.ts';
import { Reflector, type ReflectorObserver } from '../cluster/following/reflector.ts';
import type { ReflectorTuning } from '../cluster/following/reflector-tuning.ts';
import { type CatchUpOptions, type CatchUpSink, catchUp } from './catch-up.ts';
import type { WindowBounds } from './events/watch-window.ts';
import { InformerCache } from './informer-cache.ts';
import type { ObjectSource } from './objects/object-reader.ts';
import type { HistoryBounds } from './snapshots/snapshot-history.ts';

export interface InformerOptions<Facts> {
  readonly definition: ObjectSource<Facts>;
  readonly client: ClusterClient;
  readonly log: Logger;
  /** Selectors that narrow what is followed. */
  readonly query?: Readonly<Record<string, string>>;
  readonly window?: Partial<WindowBounds>;
  readonly history?: Partial<HistoryBounds>;
  readonly reflector?: Partial<ReflectorTuning>;
  readonly observer?: ReflectorObserver;
  /** How long a read waits for a resourceVersion, in ms. */
  readonly waitMs?: number;
  readonly now?: () => number;
}

/** Bounds when the configuration gives none: times in ms, sizes in bytes. */
const DEFAULT_WINDOW: WindowBounds = { events: 1024, ageMs: 300_000, bytes: 32 << 20 };
const DEFAULT_HISTORY: HistoryBounds = { snapshots: 4096, ageMs: 300_000, bytes: 32 << 20 };
const DEFAULT_WAIT_MS = 3_000;

/** A resource followed into a cache. `run` keeps it in step with the cluster until the signal is aborted. */
export class Informer<Facts> {
  readonly cache: InformerCache<Facts>;
  readonly #reflector: Reflector;

  constructor(options: InformerOptions<Facts>) {
    const { definition, client, log, query = {} } = options;
    const path = definition.source.path;
    this.cache = new InformerCache({
      definition,
      log,
      window: { ...DEFAULT_WINDOW, ...options.window },
      history: { ...DEFAULT_HISTORY, ...options.history },
      waitMs: options.waitMs ?? DEFAULT_WAIT_MS,
      now: options.now ?? (() => performance.now()),
      probe: (target, signal) => this.#probe({ client, path, query }, target, signal),
    });
    this.#reflector = new Reflector({
      client,
      path,
      query,
      sink: this.cache,
      log,
      ...(options.observer ? { observer: options.observer } : {}),
      ...(options.reflector ? { tuning: options.reflector } : {}),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#reflector.run(signal);
  }

  async #probe(source: Omit<CatchUpOptions, 'sink'>, target: bigint, signal: AbortSignal): Promise<void> {
    const { cache } = this;
    const epoch = cache.epoch;
    const from = cache.currentResourceVersion;
    if (from === undefined) return;
    // After a relist the stream may belong to a different history.
    const sink: CatchUpSink = {
      apply: (type, object) => epoch === cache.epoch && cache.apply(type, object),
      bookmark: (resourceVersion) => epoch === cache.epoch && cache.bookmark(resourceVersion),
    };
    await catchUp({ ...source, sink }, from, target, signal);
  }
}
