// Queries OpenSearch and Elasticsearch for histograms and for the numbers of lines and containers.
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { bySeverity, type Level, type Severity } from '../../../../apis/logging/v1alpha2/log-query.ts';
import { MAX_JSON_COST } from '../../../../apis/reading/bounded-json.ts';
import { SEVERITY_LEVELS } from '../../matching/levels.ts';
import { instantOf } from '../../store/instant.ts';
import type {
  Buckets,
  Deadline,
  LogHistogram,
  LogStatistics,
  SeverityCounts,
} from '../../store/log-store.ts';
import { BucketCounts, cellsOf } from '../bucket-counts.ts';
import type { Clause } from './clauses.ts';
import { layoutPaths } from './index-sets.ts';
import { BUCKET_COST, type SearchClient } from './search-client.ts';
import {
  arrayOf,
  countOf,
  type JsonObject,
  objectOf,
  type SearchResponse,
  valid,
} from './search-response.ts';
import { countingQueryOf, levelsClause, type SelectionQuery } from './selection-query.ts';

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
  const by = { by: { date_histogram: histogram } };
  const levels = (buckets.isBySeverity ? SEVERITY_LEVELS : []).map((level) => ({
    level,
    ...levelsClause(selected, [level], 'severity'),
  }));
  const body = {
    query: countingQueryOf(selected),
    size: 0,
    track_total_hits: true,
    aggs: { ...by, ...severityTree(levels, by) },
  };
  const cells = ((buckets.edges.at(-1) ?? 0) - (buckets.edges[0] ?? 0)) / width;
  const maxCost = MAX_JSON_COST + Math.ceil(cells) * (2 + levels.length) * BUCKET_COST;
  const response = await client.search(indices, body, deadline.call(), { maxCost });
  // An index that does not support one level does not support the others either.
  const all = [...shortfalls, ...(levels[0]?.shortfalls ?? []), ...response.shortfalls];
  return {
    total: { count: response.total.count, relation: all.length === 0 ? response.total.relation : 'gte' },
    ...valid(() => ({
      counts: countsIn(response.aggregations, buckets),
      ...(buckets.isBySeverity ? { severities: severitiesIn(response.aggregations, buckets) } : {}),
    })),
    shortfalls: all,
  };
}

/**
 * Aggregations that count each line in its most severe level: the lines without a level are divided by the next level.
 * Each level is searched once, and few buckets are needed: `search.max_buckets` limits them.
 */
function severityTree(
  [first, ...rest]: readonly { readonly level: Level; readonly clause: Clause }[],
  by: object,
): object {
  if (!first) return {};
  const filters = { filters: { has: first.clause }, other_bucket_key: 'other' };
  return { [first.level]: { filters, aggs: { ...by, ...severityTree(rest, by) } } };
}

function severitiesIn(aggregations: JsonObject, buckets: Buckets): SeverityCounts {
  let node = aggregations;
  const counts = new Map<Severity, number[]>();
  for (const level of SEVERITY_LEVELS) {
    // Without shards, the response has no aggregation.
    const parts = objectOf(objectOf(node[level] ?? { buckets: {} }, level)['buckets'], level);
    counts.set(level, countsIn(objectOf(parts['has'] ?? {}, 'has'), buckets));
    node = objectOf(parts['other'] ?? {}, 'other');
  }
  counts.set('none', countsIn(node, buckets));
  return bySeverity((severity) => counts.get(severity) ?? []);
}

function countsIn(aggregations: JsonObject, buckets: Buckets): number[] {
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
