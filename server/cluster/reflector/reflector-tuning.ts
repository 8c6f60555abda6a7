/** All times in ms, sizes in bytes. */
export interface ReflectorTuning {
  /** Silence after which a stream counts as dead. kube-apiserver sends a bookmark about every 60 s. */
  readonly stallMs: number;
  /** A watch is asked to end after a random time between this and twice this. */
  readonly watchMs: number;
  /** How long a watch must have lived for the next failure to be the first again. */
  readonly healthyMs: number;
  readonly initialBackoffMs: number;
  /** What is read is as old as this, too, when the cluster comes back; and only a few replicas ask. */
  readonly maxBackoffMs: number;
  /** Objects a page where the cluster has no streaming list. */
  readonly pageSize: number;
  readonly objectLimit: number;
  readonly random: () => number;
}

/** What holds where nothing else is asked for. */
export const DEFAULT_TUNING: ReflectorTuning = {
  stallMs: 90_000,
  watchMs: 300_000,
  healthyMs: 10_000,
  initialBackoffMs: 200,
  maxBackoffMs: 10_000,
  pageSize: 500,
  objectLimit: 16 << 20,
  random: Math.random,
};

/**
 * For what must not be believed for long: each watch ends with a bookmark, so a replica that is cut off from its cluster
 * learns it within seconds, although nothing changes.
 */
export const SHORT_WATCHES = {
  watchMs: 5_000,
  stallMs: 15_000,
  healthyMs: 3_000,
  // Within a second of the end of an outage the cluster is asked again.
  maxBackoffMs: 1_000,
} as const satisfies Partial<ReflectorTuning>;
