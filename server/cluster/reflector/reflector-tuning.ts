// Defines the timeouts, sizes and backoff of reflectors.
/** The settings of a reflector. Times are in ms, sizes in bytes. */
export interface ReflectorTuning {
  /** Idle timeout of a stream. kube-apiserver sends a bookmark about every 60 s. */
  readonly stallMs: number;
  /** The requested timeout of a watch is a random time between this value and twice this value. */
  readonly watchMs: number;
  /** Minimum duration of an attempt that resets the backoff. */
  readonly healthyMs: number;
  readonly initialBackoffMs: number;
  /** Maximum backoff, and so the maximum time for which reads stay stale after an outage of the cluster. */
  readonly maxBackoffMs: number;
  /** Number of objects per page, if the cluster does not support streaming lists. */
  readonly pageSize: number;
  readonly objectLimit: number;
  /** Interval of the lists of an aggregated API that cannot be watched. */
  readonly pollMs: number;
  /** Time after which a failure that lasts is logged again. A missing permission is logged once. */
  readonly reminderMs: number;
  readonly random: () => number;
}

export const DEFAULT_TUNING: ReflectorTuning = {
  stallMs: 90_000,
  watchMs: 300_000,
  healthyMs: 10_000,
  initialBackoffMs: 200,
  maxBackoffMs: 10_000,
  pageSize: 500,
  objectLimit: 16 << 20,
  pollMs: 30_000,
  reminderMs: 60_000,
  random: Math.random,
};

/**
 * Settings for data that must not be stale for long, such as sessions. Each watch ends with a bookmark, so a replica
 * detects within seconds that it is disconnected, even if there are no changes.
 */
export const SHORT_WATCHES = {
  watchMs: 5_000,
  stallMs: 15_000,
  healthyMs: 3_000,
  // The reflector retries within a second after the end of an outage.
  maxBackoffMs: 1_000,
} as const satisfies Partial<ReflectorTuning>;
