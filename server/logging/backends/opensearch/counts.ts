// Queries OpenSearch and Elasticsearch for histograms and for the numbers of lines and containers.
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { instantOf } from '../../store/instant.ts';
import type { Buckets, Deadline, LogHistogram, LogStatistics } from '../../store/log-store.ts';
import { BucketCounts, cellsOf } from '../bucket-counts.ts';
import { layoutPaths } from './index-sets.ts';
import type { SearchClient } from './search-client.ts';
import { arrayOf, countOf, objectOf, type SearchResponse, valid } from './search-response.ts';
import { countingQueryOf, type SelectionQuery } from './selection-query.ts';

/** `precision_threshold` at its maximum. The store returns an exact count up to this number, and an estimate above. */
const EXACT_CARDINALITY = 40_000;

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
  const all = [...shortfalls, ...(whole.shortfalls.length > 0 ? whole.shortfalls : missing)];
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

/** Counts lines by bucket. */
export async function countByTime(
  client: SearchClient,
  selected: SelectionQuery,
  buckets: Buckets,
  deadline: Deadline,
): Promise<LogHistogram> {
  const { indices, names, shortfalls } = selected;
  const { width, offset } = cellsOf(buckets);
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
  const all = [...shortfalls, ...response.shortfalls];
  return {
    total: { count: response.total.count, relation: all.length === 0 ? response.total.relation : 'gte' },
    counts: valid(() => countsIn(response, buckets)),
    shortfalls: all,
  };
}

function countsIn({ aggregations }: SearchResponse, buckets: Buckets): number[] {
  const lines = new BucketCounts(buckets);
  const cells = objectOf(aggregations['by'] ?? { buckets: [] }, 'by')['buckets'];
  for (const cell of arrayOf(cells, 'buckets')) {
    const { key, doc_count } = objectOf(cell, 'a bucket');
    if (typeof key !== 'number') throw new Error('a bucket has no time');
    // A record with several times is counted in several buckets, which can be outside the range.
    lines.add(instantOf(key), countOf(doc_count, 'doc_count'));
  }
  return lines.counts;
}
