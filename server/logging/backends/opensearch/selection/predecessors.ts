// Namespaces that were deleted and recreated: lines of their predecessors must not be found. With very many namespaces a
// bound for each is more than a query may hold, so only those that really have older lines get one.
import { hash } from 'node:crypto';
import { isRecord, optionalText } from '../../../../../apis/reading/unknown-value.ts';
import { ExpiringMap } from '../../../../memory/expiring-map.ts';
import { instantOf, millisecondsOf } from '../../../instant.ts';
import type { Call, Instant, Selection } from '../../../log-store.ts';
import { newStoreUnavailable } from '../../../store-errors.ts';
import { arrayOf } from '../connection/json-reader.ts';
import { STORE } from '../connection/store-name.ts';
import { aggregatedFields } from '../fields/aggregated-fields.ts';
import type { FieldMap } from '../fields/field-map.ts';
import { endingTogether } from '../searches/ending-together.ts';
import type { SearchAnswer } from '../searches/search-answer.ts';
import type { Searches } from '../searches/searches.ts';
import { exactClause } from './name-clauses.ts';
import { timeRange } from './range-clause.ts';

interface Namespace {
  readonly name: string;
  readonly since: Instant;
}

/** Lines of these namespaces from before this time are excluded. */
export interface Bound {
  readonly since: Instant;
  readonly names: readonly string[];
}

/** Where namespaces are looked for, and which. */
export interface NamespaceSearch {
  readonly namespaces: readonly Namespace[];
  readonly range: Selection['range'];
  readonly indices: string;
  readonly fields: FieldMap;
}

/** Up to so many bounds are simply used; with more, the store is asked which namespaces need one. */
const DIRECT = 100;
/** Lines of a predecessor may still be on their way for so long. */
const SETTLED_MS = 3_600_000;
/** What is remembered of the namespaces that were asked about together. */
const REMEMBERED = { most: 32, ttlMs: 10_000 };

export class Predecessors {
  readonly #searches: Searches;
  readonly #wallClock: () => number;
  readonly #known: ExpiringMap<string, ReadonlySet<string>>;

  constructor(searches: Searches, now: () => number, wallClock: () => number) {
    this.#searches = searches;
    this.#known = new ExpiringMap({ ...REMEMBERED, now });
    this.#wallClock = wallClock;
  }

  /** The bounds that the range needs, ascending, each later than its start. */
  async bounds(search: NamespaceSearch, call: Call): Promise<readonly Bound[]> {
    const late = search.namespaces.filter(({ since }) => since > search.range.start);
    const bounds = grouped(late);
    if (bounds.length <= DIRECT) return bounds;
    const settled = instantOf(this.#wallClock() - SETTLED_MS);
    const old = late.filter(({ since }) => since < settled);
    const having = await this.#withPredecessors({ ...search, namespaces: old }, call);
    return grouped(late.filter(({ name, since }) => since >= settled || having.has(name)));
  }

  async #withPredecessors(search: NamespaceSearch, call: Call): Promise<ReadonlySet<string>> {
    const { namespaces, range, indices, fields } = search;
    if (namespaces.length === 0) return new Set();
    // Where the store cannot tell, any of them may have one.
    if (fields.listed('namespace').missing > 0) return new Set(namespaces.map(({ name }) => name));
    const asked = hash('sha256', JSON.stringify([range.start, indices, namespaces]), 'base64');
    const known = this.#known.get(asked);
    if (known) return known;
    const first = await this.#firstLines(search, call);
    const names = new Set(
      namespaces.filter(({ name, since }) => isBefore(first.get(name), since)).map(({ name }) => name),
    );
    this.#known.set(asked, names);
    return names;
  }

  /** Milliseconds of each namespace's first line within the range, of those that have one before the last bound. */
  async #firstLines(search: NamespaceSearch, call: Call): Promise<ReadonlyMap<string, number>> {
    const { namespaces, range, indices, fields } = search;
    const { time } = fields.names;
    const names = namespaces.map(({ name }) => name);
    const before = namespaces.reduce((last, { since }) => (since > last ? since : last), range.start);
    const aggregation = ({ name }: { name: string }) => ({
      terms: { field: name, size: names.length, include: names },
      aggs: { first: { min: { field: time } } },
    });
    const query = {
      bool: {
        filter: [
          exactClause(names, fields.exact('namespace')),
          timeRange(time, { from: range.start, before }),
        ],
      },
    };
    const requests = aggregatedFields(indices, fields.listed('namespace'))
      .filter((place) => place.fields.length > 0)
      .map((place) => {
        const aggs = Object.fromEntries(
          place.fields.map((name, n) => [`namespaces${n}`, aggregation({ name })]),
        );
        const body = { size: 0, track_total_hits: false, query, aggs };
        return (together: Call) => this.#searches.searchUnchanged(place.indices, body, together);
      });
    const answers = await endingTogether(call, (together) =>
      Promise.all(requests.map((request) => request(together))),
    );
    // A predecessor that was overlooked would become visible.
    if (answers.some(({ shortfalls }) => shortfalls.length > 0)) {
      throw newStoreUnavailable(STORE, new Error('a part of it did not answer'));
    }
    return firstLines(answers);
  }
}

/** Whether a line of that millisecond may have been written before. */
function isBefore(first: number | undefined, since: Instant): boolean {
  if (first === undefined) return false;
  const begin = millisecondsOf(since);
  return first < begin || (first === begin && instantOf(begin) < since);
}

function grouped(namespaces: readonly Namespace[]): Bound[] {
  const groups = Map.groupBy(namespaces, ({ since }) => since);
  return [...groups]
    .map(([since, group]) => ({ since, names: group.map(({ name }) => name) }))
    .sort((a, b) => (a.since < b.since ? -1 : 1));
}

function firstLines(answers: readonly SearchAnswer[]): Map<string, number> {
  const first = new Map<string, number>();
  for (const aggregation of answers.flatMap(({ aggregations }) => Object.values(aggregations))) {
    const buckets = isRecord(aggregation) ? arrayOf(aggregation['buckets'], 'buckets') : [];
    for (const bucket of buckets) {
      const name = isRecord(bucket) ? optionalText(bucket['key']) : undefined;
      const value = isRecord(bucket) && isRecord(bucket['first']) ? bucket['first']['value'] : undefined;
      if (name === undefined) throw newStoreUnavailable(STORE, new Error('a bucket has no name'));
      // Without a time that can be read, it counts as the oldest.
      const time = typeof value === 'number' ? Math.floor(value) : Number.NEGATIVE_INFINITY;
      first.set(name, Math.min(time, first.get(name) ?? Number.POSITIVE_INFINITY));
    }
  }
  return first;
}
