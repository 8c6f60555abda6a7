// Limits concurrent log queries, exports and live tails, with fair sharing among callers. Queries wait in a queue;
// exports and live tails can be preempted.
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
    refusal: rejections('log queries', { retryAfterSeconds: 1, spreadSeconds: 3 }),
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

function preemptible(kind: string, count: number): PreemptibleSlots {
  const retry = { retryAfterSeconds: 10, spreadSeconds: 1 };
  return new PreemptibleSlots(count, {
    refusal: rejections(kind, retry),
    preemption: () =>
      newTooManyRequests(
        `preempted: other callers need one of your ${kind}; try again later`,
        retry.retryAfterSeconds,
      ),
  });
}

interface Retry {
  readonly retryAfterSeconds: number;
  /** Spreads the retries of callers that are rejected at the same time. */
  readonly spreadSeconds: number;
}

function rejections(kind: string, { retryAfterSeconds, spreadSeconds }: Retry): () => Error {
  let rejected = 0;
  return () =>
    newTooManyRequests(
      `too many concurrent ${kind}; try again later`,
      retryAfterSeconds + (rejected++ % spreadSeconds),
    );
}
