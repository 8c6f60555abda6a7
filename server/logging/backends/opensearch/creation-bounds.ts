// Builds lower time bounds for OpenSearch queries from the creation times of namespaces. Older log lines belong to a
// deleted namespace of the same name.
import { MAX_JSON_COST } from '../../../../apis/reading/bounded-json.ts';
import { optionalText, recordIn } from '../../../../apis/reading/unknown-value.ts';
import { instantOf, millisecondsOf } from '../../store/instant.ts';
import type { Call, Instant, Selection } from '../../store/log-store.ts';
import { exactClause, timeRange } from './clauses.ts';
import { type IndexSet, layoutPaths } from './index-sets.ts';
import { BUCKET_COST, type SearchClient } from './search-client.ts';
import { arrayOf, assertComplete, objectOf, type SearchResponse, valid } from './search-response.ts';

interface Namespace {
  readonly name: string;
  readonly since: Instant;
}

/** Excludes lines of these namespaces before `since`. */
interface CreationBound {
  readonly since: Instant;
  readonly names: readonly string[];
}

export interface CreationBounds {
  /** Sorted by `since`, ascending. */
  readonly bounds: readonly CreationBound[];
  /** Whether bounds were rounded up, so that lines after a recreation are missing. */
  readonly areRounded: boolean;
}

interface Search {
  readonly client: SearchClient;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
  readonly namespaces: readonly Namespace[];
  readonly range: Selection['range'];
  readonly indices: IndexSet;
  readonly time: string;
}

/** A bound needs three clauses for each layout; a query has at most 1,024 clauses by default. */
const MAX_BOUNDS = 250;
/** Time after a recreation in which lines of the deleted namespace can still arrive. */
const SETTLED_MS = 3_600_000;

/** Returns the bounds that are later than the start of the range. */
export async function findCreationBounds(search: Search, call: Call): Promise<CreationBounds> {
  const most = Math.floor(MAX_BOUNDS / search.indices.groups.length);
  const late = search.namespaces.filter(({ since }) => since > search.range.start);
  const bounds = grouped(late);
  if (bounds.length <= most) return { bounds, areRounded: false };
  const settled = instantOf(search.wallClock() - SETTLED_MS);
  const old = late.filter(({ since }) => since < settled);
  // Too many bounds for one query: only the namespaces with earlier lines in the range get a bound.
  const first = await firstLines({ ...search, namespaces: old }, call);
  const needed = late.filter(({ name, since }) => since >= settled || isBefore(first.get(name), since));
  return rounded(grouped(needed), most);
}

/**
 * Returns the time of the first line of each namespace in the range, in ms. Throws StoreUnavailable for a partial
 * result.
 */
async function firstLines(
  { client, namespaces, range, indices, time }: Search,
  call: Call,
): Promise<ReadonlyMap<string, number>> {
  const names = namespaces.map(({ name }) => name);
  if (names.length === 0) return new Map();
  const before = namespaces.reduce((last, { since }) => (since > last ? since : last), range.start);
  const first = new Map<string, number>();
  for (const { path, layout } of layoutPaths(indices)) {
    const filter = [exactClause(names, layout.namespace), timeRange(time, { from: range.start, before })];
    const body = {
      size: 0,
      track_total_hits: false,
      query: { bool: { filter } },
      aggs: {
        names: {
          terms: { field: layout.namespace, size: names.length, include: names },
          aggs: { first: { min: { field: time } } },
        },
      },
    };
    const options = { maxCost: MAX_JSON_COST + names.length * BUCKET_COST };
    const response = await (path === indices.path
      ? client.search(indices, body, call, options)
      : client.searchPath(path, body, call, options));
    assertComplete(response);
    for (const [name, ms] of valid(() => firstTimes(response))) {
      first.set(name, Math.min(ms, first.get(name) ?? Number.POSITIVE_INFINITY));
    }
  }
  return first;
}

function firstTimes({ aggregations }: SearchResponse): [name: string, ms: number][] {
  const { buckets } = objectOf(aggregations['names'] ?? { buckets: [] }, 'names');
  return arrayOf(buckets, 'buckets').map((bucket) => {
    const name = optionalText(objectOf(bucket, 'a bucket')['key']);
    if (name === undefined) throw new Error('a bucket has no key');
    const { value } = recordIn(bucket, 'first');
    return [name, typeof value === 'number' ? Math.floor(value) : Number.NEGATIVE_INFINITY];
  });
}

/** Whether the first line can be before `since`; `first` has the precision of a millisecond. */
function isBefore(first: number | undefined, since: Instant): boolean {
  if (first === undefined) return false;
  const begin = millisecondsOf(since);
  return first < begin || (first === begin && instantOf(begin) < since);
}

function grouped(namespaces: readonly Namespace[]): CreationBound[] {
  const groups = Map.groupBy(namespaces, ({ since }) => since);
  return [...groups]
    .map(([since, group]) => ({ since, names: group.map(({ name }) => name) }))
    .sort((a, b) => (a.since < b.since ? -1 : 1));
}

/** Merges neighbouring bounds, each group with its latest time. This can hide lines, but never shows earlier ones. */
function rounded(bounds: readonly CreationBound[], most: number): CreationBounds {
  if (bounds.length <= most) return { bounds, areRounded: false };
  const together = Math.ceil(bounds.length / most);
  const joined = Array.from({ length: Math.ceil(bounds.length / together) }, (_, n) => {
    const group = bounds.slice(n * together, (n + 1) * together);
    return { since: group.at(-1)?.since ?? '', names: group.flatMap(({ names }) => names) };
  });
  return { bounds: joined, areRounded: true };
}
