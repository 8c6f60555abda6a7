// Helper functions that create the arguments of log store calls in the conformance suite.
import { instantOf, momentOf } from '../../../hack/log-data/times.ts';
import type { LogRecord } from '../../../hack/log-stores/record.ts';
import type { Scope, Selection, TextFilter } from '../../../server/logging/store/log-store.ts';
import type { Comparison } from './comparison.ts';
import type { LogStoreTraits, StartedLogStore } from './harness.ts';

/** Available when the tests run; the store starts before the first of them. */
export interface Subject {
  readonly started: StartedLogStore;
  readonly traits: LogStoreTraits;
  readonly compare: Comparison;
  /** Ascending. */
  readonly records: readonly LogRecord[];
  /** Includes the times of all records. */
  readonly range: Selection['range'];
}

export const EVERYTHING: Scope = { everything: true };
export const ALWAYS = '1970-01-01T00:00:00.000000000Z';

/** All records, limited by `rest`. */
export function selection({ range }: Subject, rest: Partial<Selection> = {}): Selection {
  return { scope: EVERYTHING, range, ...rest };
}

export function text(
  mode: TextFilter['mode'],
  texts: TextFilter['texts'],
  caseSensitive = false,
): TextFilter {
  return { mode, texts, caseSensitive };
}

/** `nanoseconds`: less than a millisecond. */
export function later(instant: string, nanoseconds: number): string {
  const { ms, ns } = momentOf(instant);
  const sum = ns + nanoseconds;
  const carry = Math.floor(sum / 1_000_000);
  return instantOf({ ms: ms + carry, ns: sum - carry * 1_000_000 });
}

/** Truncated to milliseconds. */
export function wholeMillisecond(instant: string): string {
  return `${instant.slice(0, 23)}000000Z`;
}

export function milliseconds(instant: string): number {
  return momentOf(instant).ms;
}

/** The most frequent times: edge cases for the ends of pages, buckets and ranges. */
export function crowdedTimes(records: readonly LogRecord[], many: number): string[] {
  const counts = Map.groupBy(records, ({ time }) => time);
  return [...counts]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, many)
    .map(([time]) => time);
}
