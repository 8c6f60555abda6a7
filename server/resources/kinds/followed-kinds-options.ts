// Options of FollowedKinds.
import type { Logger } from 'pino';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import type { TimeSlicer } from '../../concurrency/time-slicer.ts';
import type { Features } from '../profiles/feature-facts.ts';
import type { KindMetrics } from './kind-copy.ts';

/** Times in ms, memory in bytes. */
export interface KindLimits {
  /** Maximum number of followed kinds. */
  readonly maxKinds: number;
  /** Time after the last request for a kind, after which it is not followed any more. */
  readonly idleTimeout: number;
  /** Maximum wait of a request for the first list. */
  readonly syncTimeout: number;
  /** Maximum memory of all caches together, half of it for one kind. */
  readonly memoryBudget: number;
}

/** The memory budget follows from the memory of the process. */
export const KIND_LIMITS: Omit<KindLimits, 'memoryBudget'> = {
  /** More than the kinds of a cluster with many operators that a console shows. */
  maxKinds: 100,
  /** A console that is open requests its kinds far more often. */
  idleTimeout: 900_000,
  /** Far longer than the first list of a large kind, and shorter than the timeouts of proxies. */
  syncTimeout: 10_000,
};

export interface FollowedKindsOptions extends KindLimits {
  readonly client: ClusterClient;
  readonly log: Logger;
  readonly domain: string;
  readonly slicer: TimeSlicer;
  /** Kinds to follow from the start, as `plural` or `plural.group`. */
  readonly preload: readonly string[];
  /** Exact names of restricted kinds to serve. */
  readonly restricted: readonly string[];
  /** Kinds of aggregated APIs to serve, as `plural.group` or `*.group`. */
  readonly callerIndependent: readonly string[];
  /** Returns the memory of the caches that are no kinds of this class, in bytes. */
  readonly otherBytes?: () => number;
  readonly metrics: KindMetrics;
  /** The features that need facts. */
  readonly features?: Features;
  /** Time in ms without a proof that the objects are up to date, after which lists get 503; 3 minutes by default. */
  readonly staleMs?: number;
  /** First pause in ms before a kind over its budget is followed again; a minute by default. It doubles each time, up to an hour. */
  readonly overBudgetMs?: number;
  /** Time in ms for which a kind that loads delays the start of others by the acceleration; 10 s by default. */
  readonly loadingMs?: number;
  /** Interval in ms of the checks for idle kinds and for kinds over their budget; 5 s by default. */
  readonly sweepMs?: number;
}
