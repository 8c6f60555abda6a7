// Queries OpenSearch and Elasticsearch for histograms and for the numbers of lines and containers.
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { earlier, instantOf, later } from '../../instant.ts';
import type { Buckets, Deadline, LogHistogram, LogStatistics, Selection } from '../../log-store.ts';
import { commonWidth } from '../bucket-counts.ts';
import { layoutPaths } from './index-sets.ts';
import type { SearchClient } from './search-client.ts';
import { arrayOf, countOf, distinct, objectOf, type SearchResponse, valid } from './search-response.ts';
import { countingQueryOf, type SelectionQuery } from './selection-query.ts';

/** `precision_threshold` at its maximum. The store returns an exact count up to this number, and an estimate above. */
const EXACT_CARDINALITY = 40_000;

export const NO_STATISTICS: LogStatistics = {
  logs: { count: 0, relation: 'eq' },
  containers: 0,
  containersApproximate: false,
  shortfalls: [],
};

export async function countLines(
  client: SearchClient,
  selected: SelectionQuery,
  deadline: Deadline,
): Promise<LogStatistics> {
  const { indices, shortfalls } = selected;
  const paths = layoutPaths(indices);
  const counted = { query: countingQueryOf(selected), size: 0, track_total_hits: true };
  const missing: Shortfall[] = [];
  let containers = 0;
  let response: SearchResponse | undefined;
  for (const { path, layout } of paths) {
    if (layout.containerID === undefined) continue;
    const field = { field: layout.containerID, precision_threshold: EXACT_CARDINALITY };
    const body = { ...counted, aggs: { containers: { cardinality: field } } };
    const isWhole = path === indices.path;
    const part = await (isWhole
      ? client.search(indices, body, deadline.call())
      : client.searchPath(path, body, deadline.call()));
    containers += valid(() => cardinalityOf(part));
    missing.push(...part.shortfalls);
    if (isWhole) response = part;
  }
  const whole = response ?? (await client.search(indices, counted, deadline.call()));
  // Not both lists: they report the same shards with different numbers.
  const all = distinct([...shortfalls, ...(whole.shortfalls.length > 0 ? whole.shortfalls : missing)]);
  return {
    logs: { count: whole.total.count, relation: all.length === 0 ? whole.total.relation : 'gte' },
    containers,
    // A container with lines in indices of both layouts is counted twice.
    containersApproximate:
      containers > EXACT_CARDINALITY ||
      paths.length > 1 ||
      paths.some(({ layout }) => layout.containerID === undefined),
    shortfalls: all,
  };
}

function cardinalityOf({ aggregations }: SearchResponse): number {
  // Without shards, the response has no aggregation.
  const { value } = objectOf(aggregations['containers'] ?? { value: 0 }, 'containers');
  return countOf(value, 'containers.value');
}

/** Intersection of the time range and the buckets. */
export function bucketRange({ range }: Selection, { edges }: Buckets): Selection['range'] {
  const [first, last] = [instantOf(edges[0] ?? 0), instantOf(edges.at(-1) ?? 0)];
  return { start: later(range.start, first), end: earlier(range.end, last) };
}

export function emptyHistogram({ edges }: Buckets): LogHistogram {
  return { total: { count: 0, relation: 'eq' }, counts: edges.slice(1).map(() => 0), shortfalls: [] };
}

/** Counts lines by bucket. Buckets of different width, such as months, are sums of equal buckets of the store. */
export async function countByTime(
  client: SearchClient,
  selected: SelectionQuery,
  buckets: Buckets,
  deadline: Deadline,
): Promise<LogHistogram> {
  const { indices, names, shortfalls } = selected;
  const width = commonWidth(buckets);
  const offset = (((buckets.edges[0] ?? 0) % width) + width) % width;
  const histogram = {
    field: names.time,
    fixed_interval: `${width}ms`,
    offset: `${offset}ms`,
    min_doc_count: 1,
  };
  const body = {
    query: countingQueryOf(selected),
    size: 0,
    track_total_hits: true,
    aggs: { by: { date_histogram: histogram } },
  };
  const response = await client.search(indices, body, deadline.call());
  const all = distinct([...shortfalls, ...response.shortfalls]);
  return {
    total: { count: response.total.count, relation: all.length === 0 ? response.total.relation : 'gte' },
    counts: valid(() => sums(response, buckets, width)),
    shortfalls: all,
  };
}

function sums({ aggregations }: SearchResponse, { edges }: Buckets, width: number): number[] {
  const counts = edges.slice(1).map(() => 0);
  const [first = 0, last = first] = [edges[0], edges.at(-1)];
  const { buckets } = objectOf(aggregations['by'] ?? { buckets: [] }, 'by');
  let place = 0;
  for (const bucket of arrayOf(buckets, 'buckets')) {
    const { key, doc_count } = objectOf(bucket, 'a bucket');
    const count = countOf(doc_count, 'doc_count');
    if (typeof key !== 'number') throw new Error('a bucket has no time');
    if ((key - first) % width !== 0) throw new Error('a bucket has an unexpected start');
    // A record with several times is counted in several buckets, which can be outside the range.
    if (key < first || key >= last) continue;
    while ((edges[place + 1] ?? last) <= key) place++;
    counts[place] = (counts[place] ?? 0) + count;
  }
  return counts;
}
