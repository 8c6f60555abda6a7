// Options of a reflector, and the observer of its progress.
import type { Logger } from 'pino';
import type { ClusterClient } from '../connection/client.ts';
import type { ReflectorSink } from './reflector-sink.ts';
import type { ReflectorTuning } from './reflector-tuning.ts';

/** Progress of a reflector, for metrics and for the freshness of its sink. */
export interface ReflectorObserver {
  /** The response headers of a streaming list have arrived. */
  listBegan?(): void;
  listed?(way: 'stream' | 'pages', seconds: number): void;
  /** The response headers of a watch from the sink's resourceVersion have arrived: the cluster accepts the watch. */
  watchBegan?(): void;
  /** A watch ended: `cause` is `end`, `expired`, `stalled`, `backwards`, `forbidden` or `error`. */
  watchEnded?(cause: string): void;
  /** An attempt failed; the reflector retries. */
  failed?(error: unknown): void;
  /** The sink contains all changes up to this resourceVersion. */
  progressed?(resourceVersion: string): void;
}

export interface ReflectorOptions {
  readonly client: ClusterClient;
  /** For instance `/api/v1/nodes`. */
  readonly path: string;
  /** Selectors, for instance `{fieldSelector: 'metadata.name=x'}`. */
  readonly query?: Readonly<Record<string, string>>;
  readonly sink: ReflectorSink;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  readonly observer?: ReflectorObserver;
  readonly tuning?: Partial<ReflectorTuning>;
  /** True for an aggregated API, which can have resourceVersions of its own, or none, and ignore WatchList. */
  readonly aggregated?: boolean;
}
