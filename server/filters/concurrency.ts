import { newTooManyRequests } from '../../apis/meta/v1/errors.ts';
import { SYSTEM_MASTERS } from '../authentication/user.ts';
import { isPublicPath } from '../authorization/public-paths.ts';
import { READ_VERBS } from '../request/request-info.ts';
import type { Exchange, Filter } from './exchange.ts';
import type { RequestObserver } from './request-metrics.ts';

export interface ConcurrencyLimits {
  /** Read and mutating requests in flight; 0: no limit. */
  readonly maxReadOnly: number;
  readonly maxMutating: number;
  /** Long-running requests; 0: no limit. */
  readonly maxLongRunning: number;
}

type Lane = 'readOnly' | 'mutating' | 'longRunning';

/** Time that a request with an incomplete body keeps its slot under load, in ms. */
const BODY_GRACE_MS = 1_000;

export interface ConcurrencyDependencies {
  readonly metrics: RequestObserver;
  /** Monotonic clock in ms. */
  readonly monotonic: () => number;
  /** Ends a request that has reached the handler. */
  readonly fail: (exchange: Exchange, error: unknown) => void;
}

/**
 * Limits requests in flight. Health, discovery and system:masters are exempt: a failed probe under load would remove the
 * server when it is needed most. Requests with incomplete bodies are preempted, because they do no work: otherwise a few
 * slow clients could block all sign-ins.
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
  /** Mutating requests whose body was incomplete on arrival, oldest first. */
  const incomplete = new Set<Exchange>();
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
