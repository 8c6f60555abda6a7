// How many lines there are in each bucket of time.
import { commonWidth } from '../../../bucket-width.ts';
import { earlier, instantOf, later } from '../../../instant.ts';
import type { Buckets, Call, LogHistogram, Selection } from '../../../log-store.ts';
import { arrayOf, countOf, type JsonObject, objectOf, valid } from '../connection/json-reader.ts';
import type { SearchAnswer } from '../searches/search-answer.ts';
import type { Searches } from '../searches/searches.ts';
import { timeRange } from '../selection/range-clause.ts';
import type { SelectionQuery } from '../selection/selection-query.ts';

/** The part of the range that lies within the buckets; the instants of buckets are whole milliseconds. */
export function bucketRange({ range }: Selection, { edges }: Buckets): Selection['range'] {
  const [first, last] = [instantOf(edges[0] ?? 0), instantOf(edges.at(-1) ?? 0)];
  return { start: later(range.start, first), end: earlier(range.end, last) };
}

export async function countByTime(
  searches: Searches,
  { indices, fields, counting: query, shortfalls }: SelectionQuery,
  buckets: Buckets,
  call: Call,
): Promise<LogHistogram> {
  const field = fields.names.time;
  const step = stepOf(buckets);
  const by = step === undefined ? each(field, buckets) : steps(field, buckets, step);
  const body = { query, size: 0, track_total_hits: true, aggs: { by } };
  const answer = await searches.searchUnchanged(indices, body, call);
  const counts = step === undefined ? countsOfEach(answer, buckets) : countsOfSteps(answer, buckets, step);
  const all = [...shortfalls, ...answer.shortfalls];
  return {
    total: { count: answer.total.count, relation: all.length === 0 ? answer.total.relation : 'gte' },
    counts,
    shortfalls: all,
  };
}

function steps(field: string, { edges }: Buckets, step: number): JsonObject {
  // Where buckets begin between two multiples of their width.
  const offset = (((edges[0] ?? 0) % step) + step) % step;
  return { date_histogram: { field, fixed_interval: `${step}ms`, offset: `${offset}ms`, min_doc_count: 1 } };
}

/** Buckets that are made of narrower ones are summed up; a store answers about so many at a time. */
const MAX_STEPS = 20_000;

/** The width of equal parts that buckets, also months or days of a time zone, consist of; undefined for very many. */
function stepOf(buckets: Buckets): number | undefined {
  const { edges } = buckets;
  const width = commonWidth(buckets);
  const steps = ((edges.at(-1) ?? 0) - (edges[0] ?? 0)) / width;
  return steps <= Math.max(MAX_STEPS, edges.length) ? width : undefined;
}

/** `date_range` would be shorter, but loses documents whose times are in nanoseconds. */
function each(field: string, { edges }: Buckets): JsonObject {
  const filters = edges
    .slice(1)
    .map((edge, n) => timeRange(field, { from: instantOf(edges[n] ?? 0), before: instantOf(edge) }));
  return { filters: { filters } };
}

function countsOfEach(answer: SearchAnswer, { edges }: Buckets): number[] {
  return valid(() => {
    const counts = bucketsOf(answer).map((bucket) => countOf(bucket['doc_count'], 'doc_count'));
    return edges.slice(1).map((_, n) => counts[n] ?? 0);
  });
}

function countsOfSteps(answer: SearchAnswer, { edges }: Buckets, step: number): number[] {
  const counts = edges.slice(1).map(() => 0);
  const [first = 0, last = first] = [edges[0], edges.at(-1)];
  let place = 0;
  return valid(() => {
    for (const { key, doc_count } of bucketsOf(answer)) {
      const count = countOf(doc_count, 'doc_count');
      if (typeof key !== 'number') throw new Error('a bucket has no time');
      if ((key - first) % step !== 0) throw new Error('a bucket begins elsewhere');
      // A line with several times is counted at each of them, also where the range is not.
      if (key < first || key >= last) continue;
      // Both ascend.
      while ((edges[place + 1] ?? last) <= key) place++;
      counts[place] = (counts[place] ?? 0) + count;
    }
    return counts;
  });
}

function bucketsOf({ aggregations }: SearchAnswer): JsonObject[] {
  const by = aggregations['by'];
  if (by === undefined) return [];
  return arrayOf(objectOf(by, 'by')['buckets'], 'buckets').map((bucket) => objectOf(bucket, 'a bucket'));
}
