// Concurrency filter: limits the requests in flight. Read-only, mutating and long-running requests have separate
// limits.
import { newTooManyRequests } from '../../apis/meta/v1/errors.ts';
import { SYSTEM_MASTERS } from '../authentication/user.ts';
import { isPublicPath } from '../authorization/public-paths.ts';
import { READ_VERBS } from '../request/request-info.ts';
import type { Exchange, Filter } from './exchange.ts';
import type { RequestObserver } from './request-metrics.ts';

export interface ConcurrencyLimits {
  /** 0: no limit. */
  readonly maxReadOnly: number;
  /** 0: no limit. */
  readonly maxMutating: number;
  /** 0: no limit. */
  readonly maxLongRunning: number;
}

type Lane = 'readOnly' | 'mutating' | 'longRunning';

/** Age at which a request with an incomplete body can be preempted, in ms. */
const BODY_GRACE_MS = 1_000;

export interface ConcurrencyDependencies {
  readonly metrics: RequestObserver;
  /** Monotonic clock in ms. */
  readonly monotonic: () => number;
  /** Sends the error as the response of a request that has reached the handler. */
  readonly fail: (exchange: Exchange, error: unknown) => void;
}

/**
 * Rejects requests above the limits with 429. Health, discovery and system:masters are exempt, because a failed probe under load
 * would remove the server from its Service. A new mutating request preempts the oldest one whose body is incomplete; otherwise a
 * few slow clients could block all sign-ins.
 */
export function concurrency(
  limits: ConcurrencyLimits,
  { metrics, monotonic, fail }: ConcurrencyDependencies,
): Filter {
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
  /** Mutating requests whose body was incomplete on arrival, the oldest first. */
  const incomplete = new Set<Exchange>();
  /** Preempts a request. Returns false if no request can be preempted. */
  const preempts = (lane: Lane): boolean => {
    if (lane !== 'mutating') return false;
    for (const exchange of incomplete) {
      if (!exchange.request.complete) {
        if (monotonic() - exchange.startedAt < BODY_GRACE_MS) return false;
        incomplete.delete(exchange);
        const error = tooMany();
        fail(exchange, error);
        exchange.abort(error);
        return true;
      }
      incomplete.delete(exchange);
    }
    return false;
  };
  const release = (lane: Lane): void => {
    inFlight[lane]--;
    if (lane !== 'longRunning') metrics.inflight(lane, -1);
  };
  return (exchange) => {
    const lane = laneOf(exchange);
    if (max[lane] > 0 && inFlight[lane] >= max[lane] && !isExempt(exchange) && !preempts(lane)) {
      throw tooMany();
    }
    inFlight[lane]++;
    if (lane !== 'longRunning') metrics.inflight(lane, 1);
    exchange.onEnd(leave[lane]);
    if (lane !== 'mutating' || exchange.request.complete) return;
    incomplete.add(exchange);
    exchange.onEnd(() => incomplete.delete(exchange));
  };
}

function tooMany(): Error {
  return newTooManyRequests('Too many requests, please try again later.', 1);
}

function laneOf({ longRunning, info }: Exchange): Lane {
  if (longRunning) return 'longRunning';
  return READ_VERBS.has(info.verb) ? 'readOnly' : 'mutating';
}

function isExempt({ user, info }: Exchange): boolean {
  return user.groups.includes(SYSTEM_MASTERS) || (!info.isResourceRequest && isPublicPath(info.path));
}
