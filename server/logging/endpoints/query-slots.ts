// How many log queries, exports and followers there may be at a time, of all callers and of one. Whoever is refused hears
// when to come again.
import { newTooManyRequests } from '../../../apis/meta/v1/errors.ts';
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

export function newQuerySlots(limits: QueryLimits): Readonly<Record<LogOperation, Slots>> {
  const queries = new Slots(
    limits.concurrentQueries,
    {
      length: limits.queuedQueries,
      waitMs: limits.queueTimeout,
      refusal: refusals('log queries', { retryAfterSeconds: 1, spreadSeconds: 3 }),
    },
    { slots: mostOfOne(limits.concurrentQueries), waiting: mostOfOne(limits.queuedQueries) },
  );
  const streams = (what: string, count: number): Slots =>
    new Slots(
      count,
      {
        length: 0,
        waitMs: 0,
        refusal: refusals(what, { retryAfterSeconds: 10, spreadSeconds: 1 }),
      },
      { slots: mostOfOne(count), waiting: 0 },
    );
  return {
    query: queries,
    context: queries,
    statistics: queries,
    histogram: queries,
    export: streams('exports of logs', limits.concurrentExports),
    follow: streams('callers who follow logs', limits.concurrentFollowers),
  };
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
