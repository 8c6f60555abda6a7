import type { ReflectorTuning } from '../../cluster/following/reflector-tuning.ts';

/**
 * Watches for what a sign-in depends on. They are short, since each one ends with a bookmark: a replica that is cut off
 * from its cluster learns it within seconds, although nobody signs in or out and nothing changes.
 */
export const SHORT_WATCHES = {
  watchMs: 5_000,
  stallMs: 15_000,
  healthyMs: 3_000,
  maxBackoffMs: 5_000,
} as const satisfies Partial<ReflectorTuning>;

/** After this much silence of the cluster, in ms, what was known last is no longer relied on. */
export const STALE_AFTER_MS = 30_000;
