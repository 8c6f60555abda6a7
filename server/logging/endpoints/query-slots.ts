// How many log queries, exports and followers there may be at a time, and how callers share them. Whoever is refused hears
// when to come again.
import { newTooManyRequests } from '../../../apis/meta/v1/errors.ts';
import { Places } from '../../concurrency/places.ts';
import { mostOfOne } from '../../concurrency/share-of-one.ts';
import { Slots } from '../../concurrency/slots.ts';
import type { LogOperation } from '../log-metrics.ts';

/** Times in ms. */
export interface QueryLimits {
  readonly concurrentQueries: number;
  readonly queuedQueries: number;
  readonly queueTimeout: number;
  readonly concurrentExports: number;
  readonly concurrentFollowers: number;
}

/** Queries end soon, and are waited for; exports and live tails last, and what a caller has too many of is withdrawn. */
export interface QuerySlot extends Disposable {
  readonly withdrawn?: AbortSignal;
}

export interface QuerySlots {
  take(signal: AbortSignal, caller: string): Promise<QuerySlot>;
}

export function newQuerySlots(limits: QueryLimits): Readonly<Record<LogOperation, QuerySlots>> {
  const queue = {
    length: limits.queuedQueries,
    waitMs: limits.queueTimeout,
    refusal: refusals('log queries', { retryAfterSeconds: 1, spreadSeconds: 3 }),
  };
  const queries = new Slots(limits.concurrentQueries, queue, mostOfOne);
  return {
    query: queries,
    context: queries,
    statistics: queries,
    histogram: queries,
    export: places('exports of logs', limits.concurrentExports),
    follow: places('live tails of logs', limits.concurrentFollowers),
  };
}

function places(what: string, count: number): Places {
  const retry = { retryAfterSeconds: 10, spreadSeconds: 1 };
  return new Places(count, {
    refusal: refusals(what, retry),
    withdrawal: () =>
      newTooManyRequests(`others need one of your ${what}, please try again later`, retry.retryAfterSeconds),
  });
}

interface Retry {
  readonly retryAfterSeconds: number;
  /** Many may be refused at once; they must not all retry at once. */
  readonly spreadSeconds: number;
}

function refusals(what: string, { retryAfterSeconds, spreadSeconds }: Retry): () => Error {
  let refused = 0;
  return () =>
    newTooManyRequests(
      `too many ${what} at a time, please try again later`,
      retryAfterSeconds + (refused++ % spreadSeconds),
    );
}
