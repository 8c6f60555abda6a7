// Limits of concurrent log queries, exports and live tails, with fair sharing among callers. Queries wait in a
// queue; exports and live tails can be preempted.
import { newTooManyRequests } from '../../../apis/meta/v1/errors.ts';
import { PreemptibleSlots } from '../../concurrency/preemptible-slots.ts';
import { Slots, tenantShare } from '../../concurrency/slots.ts';
import type { LogOperation } from '../log-metrics.ts';
import type { Preemptible } from '../streams/stream-end.ts';

export interface QueryLimits {
  readonly concurrentQueries: number;
  readonly queuedQueries: number;
  /** Maximum time in the queue, in ms. */
  readonly queueTimeout: number;
  readonly concurrentExports: number;
  readonly concurrentFollowers: number;
}

export type QuerySlot = Disposable & Preemptible;

export interface QuerySlots {
  take(signal: AbortSignal, caller: string): Promise<QuerySlot>;
}

export function newQuerySlots(limits: QueryLimits): Readonly<Record<LogOperation, QuerySlots>> {
  const queue = {
    length: limits.queuedQueries,
    waitMs: limits.queueTimeout,
    refusal: () => newTooManyRequests('too many concurrent log queries; try again later', 1),
  };
  const queries = new Slots(limits.concurrentQueries, queue, tenantShare);
  return {
    query: queries,
    context: queries,
    statistics: queries,
    histogram: queries,
    export: preemptible('log exports', limits.concurrentExports),
    follow: preemptible('live tails', limits.concurrentFollowers),
  };
}

const RETRY_AFTER_SECONDS = 10;

function preemptible(kind: string, count: number): PreemptibleSlots {
  const rejection = (reason: string) => () =>
    newTooManyRequests(`${reason}; try again later`, RETRY_AFTER_SECONDS);
  return new PreemptibleSlots(count, {
    refusal: rejection(`too many concurrent ${kind}`),
    preemption: rejection(`preempted: other callers need one of your ${kind}`),
  });
}
