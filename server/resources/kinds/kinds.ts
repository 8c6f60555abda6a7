// Creates what all lists of kinds share, and the copies of kinds, from the configuration.
import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { CacheMetrics } from '../../cache/cache-metrics.ts';
import type { ClusterClient } from '../../cluster/connection/client.ts';
import { TimeSlicer } from '../../concurrency/time-slicer.ts';
import type { CompletedConfig } from '../../config/config.ts';
import { exactName } from '../kind.ts';
import { FollowedKinds } from './followed-kinds.ts';
import { KIND_LIMITS, type KindLimits } from './followed-kinds-options.ts';

/** Memory of the bodies of recently requested pages of all kinds: a share of the budget, and a maximum in bytes. */
const BODIES_SHARE = 1 / 8;
const MAX_BODIES = 32 << 20;
/** Memory of a body besides its bytes. */
const BODY_BYTES = 512;

/** Shares of the memory of this process for all caches. The other memory is for requests, logs and garbage. */
const MEMORY_SHARE = 0.4;
/** Facts and indexes are in the heap, compressed objects are not. */
const HEAP_SHARE = 0.6;

/** Maximum memory of all caches, in bytes. An operator raises it with the memory limit of the container. */
function memoryBudget(): number {
  // 0 or a number beyond the machine without a limit.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const memory = Math.min(limit, totalmem());
  return Math.floor(Math.min(memory * MEMORY_SHARE, getHeapStatistics().heap_size_limit * HEAP_SHARE));
}

/** The kinds of the cluster, and what all their lists share. */
export interface Kinds {
  readonly followed: FollowedKinds;
  /** Shared, because all lists together must not block the event loop. */
  readonly slicer: TimeSlicer;
  /** Bodies of recently requested pages. */
  readonly bodies: LRUCache<string, Buffer>;
}

interface KindsDependencies {
  readonly client: ClusterClient;
  readonly log: Logger;
  readonly cacheMetrics: CacheMetrics;
  /** Replaces values of KIND_LIMITS, and the memory budget. */
  readonly kindLimits?: Partial<KindLimits>;
}

export function newKinds(
  { platform, resources: options, logging }: Pick<CompletedConfig, 'platform' | 'resources' | 'logging'>,
  { client, log, cacheMetrics, kindLimits }: KindsDependencies,
): Kinds {
  const slicer = new TimeSlicer();
  const limits = { ...KIND_LIMITS, memoryBudget: memoryBudget(), ...kindLimits };
  const bodies = new LRUCache<string, Buffer>({
    maxSize: Math.ceil(Math.min(MAX_BODIES, limits.memoryBudget * BODIES_SHARE)),
    sizeCalculation: ({ length }, key) => length + key.length + BODY_BYTES,
  });
  const followed = new FollowedKinds({
    client,
    log: log.child({ component: 'resources' }),
    domain: `${platform.name}.io`,
    slicer,
    preload: options.preload,
    restricted: options.restricted,
    callerIndependent: options.callerIndependent,
    otherBytes: () => bodies.calculatedSize,
    ...limits,
    features: {
      podLogs: logging.enabled && logging.store === 'kubernetes',
      nodeUsage: options.nodes.usageAnnotations,
    },
    metrics: {
      observe: (kind, copy) => cacheMetrics.observe(exactName(kind), copy),
      remove: (kind) => cacheMetrics.remove(exactName(kind)),
    },
  });
  return { followed, slicer, bodies };
}
