import { newTooManyRequests } from '../../apis/meta/v1/errors.ts';
import { SYSTEM_MASTERS } from '../authentication/user.ts';
import { isPublicPath } from '../authorization/public-paths.ts';
import type { Exchange, Filter } from './exchange.ts';
import { READ_VERBS } from './request-info.ts';
import type { RequestMetrics } from './request-metrics.ts';

export interface ConcurrencyLimits {
  /** Requests in flight that only read, and those that change something; 0 is no limit. */
  readonly maxReadOnly: number;
  readonly maxMutating: number;
  /** Watches, upgrades and other streams at a time; 0 is no limit. */
  readonly maxLongRunning: number;
}

type Lane = 'readOnly' | 'mutating' | 'longRunning';

/**
 * Bounds what is worked on at a time. Never refused: health and discovery, since a probe that fails under load
 * takes the server away when it is needed most, and the cluster's administrators.
 */
export function concurrency(limits: ConcurrencyLimits, metrics: RequestMetrics): Filter {
  const max: Record<Lane, number> = {
    readOnly: limits.maxReadOnly,
    mutating: limits.maxMutating,
    longRunning: limits.maxLongRunning,
  };
  const inFlight: Record<Lane, number> = { readOnly: 0, mutating: 0, longRunning: 0 };
  const leave: Record<Lane, () => void> = {
    readOnly: () => release('readOnly'),
    mutating: () => release('mutating'),
    longRunning: () => release('longRunning'),
  };
  const release = (lane: Lane): void => {
    inFlight[lane]--;
    if (lane !== 'longRunning') metrics.inflight(lane, -1);
  };
  return (exchange) => {
    const lane = laneOf(exchange);
    if (max[lane] > 0 && inFlight[lane] >= max[lane] && !isExempt(exchange)) {
      throw newTooManyRequests('Too many requests, please try again later.', 1);
    }
    inFlight[lane]++;
    if (lane !== 'longRunning') metrics.inflight(lane, 1);
    exchange.onEnd(leave[lane]);
  };
}

function laneOf({ longRunning, info }: Exchange): Lane {
  if (longRunning) return 'longRunning';
  return READ_VERBS.has(info.verb) ? 'readOnly' : 'mutating';
}

function isExempt({ user, info }: Exchange): boolean {
  return user.groups.includes(SYSTEM_MASTERS) || (!info.isResourceRequest && isPublicPath(info.path));
}
