import { newTooManyRequests } from '../../apis/meta/v1/errors.ts';
import { SYSTEM_MASTERS } from '../authentication/user.ts';
import { isPublicPath } from '../authorization/public-paths.ts';
import { READ_VERBS } from '../request/request-info.ts';
import type { Exchange, Filter } from './exchange.ts';
import type { RequestObserver } from './request-metrics.ts';

export interface ConcurrencyLimits {
  /** Requests in flight that only read, and those that change something; 0 is no limit. */
  readonly maxReadOnly: number;
  readonly maxMutating: number;
  /** Watches, upgrades and other streams at a time; 0 is no limit. */
  readonly maxLongRunning: number;
}

type Lane = 'readOnly' | 'mutating' | 'longRunning';

/** How long a request may hold its place while its body is incomplete, in ms. */
const PATIENCE_MS = 1_000;

export interface ConcurrencyDependencies {
  readonly metrics: RequestObserver;
  /** Milliseconds that never go back. */
  readonly monotonic: () => number;
  /** Answers a request that is in the handler already. */
  readonly fail: (exchange: Exchange, error: unknown) => void;
}

/**
 * Limits concurrent requests. Health, discovery and the cluster's administrators are never refused: a probe that fails
 * under load would take the server away when it is needed most. No work happens while a body is awaited, so requests
 * with slow bodies make room for others; else a few idle connections could keep everybody from signing in.
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
  /** Mutating requests whose body was incomplete when they came, the oldest first. */
  const incomplete = new Set<Exchange>();
  const makesRoom = (lane: Lane): boolean => {
    if (lane !== 'mutating') return false;
    for (const exchange of incomplete) {
      if (!exchange.request.complete) {
        if (monotonic() - exchange.startedAt < PATIENCE_MS) return false;
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
    if (max[lane] > 0 && inFlight[lane] >= max[lane] && !isExempt(exchange) && !makesRoom(lane)) {
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
