// Pools of seats for log queries, exports and live tails. Queries wait in a queue; exports and live tails can be
// preempted.
import { newTooManyRequests } from '../../../apis/meta/v1/errors.ts';
import type { Admission } from '../../admission/admission.ts';
import type { Seats } from '../../admission/seats.ts';
import type { LogOperation } from '../store/log-metrics.ts';

export interface QueryLimits {
  readonly concurrentQueries: number;
  readonly queuedQueries: number;
  /** Maximum time in the queue, in ms. */
  readonly queueTimeout: number;
  readonly concurrentExports: number;
  readonly concurrentFollowers: number;
}

/** A store serves few queries at a time: more in parallel make each of them slower. */
export const QUERY_LIMITS = {
  concurrentQueries: 8,
  queuedQueries: 64,
  queueTimeout: 5_000,
  /** An export can occupy the store for minutes. */
  concurrentExports: 4,
  /** A live tail polls the store about once per second. */
  concurrentFollowers: 100,
} as const satisfies QueryLimits;

const RETRY_AFTER_SECONDS = 10;

export function queryPools(
  limits: QueryLimits,
  admission: Pick<Admission, 'pool'>,
): Readonly<Record<LogOperation, Seats>> {
  const queries = admission.pool('log-queries', {
    capacity: limits.concurrentQueries,
    sharing: 'reserve',
    waiting: limits.queuedQueries,
    waitMs: limits.queueTimeout,
    refusal: () => newTooManyRequests('too many concurrent log queries; try again later', 1),
  });
  const streams = (name: string, kind: string, capacity: number): Seats => {
    const rejection = (reason: string) => () =>
      newTooManyRequests(`${reason}; try again later`, RETRY_AFTER_SECONDS);
    return admission.pool(name, {
      capacity,
      sharing: 'preempt',
      refusal: rejection(`too many concurrent ${kind}`),
      preemption: rejection(`preempted: other callers need one of your ${kind}`),
    });
  };
  return {
    query: queries,
    context: queries,
    statistics: queries,
    histogram: queries,
    export: streams('log-exports', 'log exports', limits.concurrentExports),
    follow: streams('live-tails', 'live tails', limits.concurrentFollowers),
  };
}
