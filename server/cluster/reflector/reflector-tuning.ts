/** All times in ms, sizes in bytes. */
export interface ReflectorTuning {
  /** A stream without data for this long is dead. kube-apiserver sends a bookmark about every 60 s. */
  readonly stallMs: number;
  /** Watches request a timeout between this and twice this, at random. */
  readonly watchMs: number;
  /** An attempt that lasted this long resets the backoff. */
  readonly healthyMs: number;
  readonly initialBackoffMs: number;
  /** Reads are stale for as long after the cluster returns; only a few replicas retry. */
  readonly maxBackoffMs: number;
  /** Page size where the cluster does not support streaming lists. */
  readonly pageSize: number;
  readonly objectLimit: number;
  readonly random: () => number;
}

/** Defaults. */
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
 * For data that must not be stale for long, such as sessions: each watch ends with a bookmark, so a replica that is
 * disconnected from a quiet cluster notices it within seconds.
 */
export const SHORT_WATCHES = {
  watchMs: 5_000,
  stallMs: 15_000,
  healthyMs: 3_000,
  // The first attempt after an outage takes place within a second of its end.
  maxBackoffMs: 1_000,
} as const satisfies Partial<ReflectorTuning>;
