// Namespaces that were deleted and recreated: lines of their predecessors must not be found. With very many namespaces a
// bound for each is more than a query may hold, so only those that really have older lines get one.
import { hash } from 'node:crypto';
import { recordIn } from '../../../../../apis/reading/unknown-value.ts';
import { ExpiringMap } from '../../../../memory/expiring-map.ts';
import { instantOf, millisecondsOf } from '../../../instant.ts';
import type { Call, Instant, Selection } from '../../../log-store.ts';
import type { FieldMap } from '../fields/field-map.ts';
import type { Searches } from '../searches/searches.ts';
import { exactClause } from './name-clauses.ts';
import { timeRange } from './range-clause.ts';
import { type ValueList, valueLists } from './value-lists.ts';

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
    if (fields.listed('namespace').missing.length > 0) return new Set(namespaces.map(({ name }) => name));
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

  /**
   * Milliseconds of each namespace's first line within the range, of those that have one before the last bound. Throws
   * where not all of the store answers: a predecessor that was overlooked would become visible.
   */
  async #firstLines(search: NamespaceSearch, call: Call): Promise<ReadonlyMap<string, number>> {
    const { namespaces, range, indices, fields } = search;
    const { time } = fields.names;
    const names = namespaces.map(({ name }) => name);
    const before = namespaces.reduce((last, { since }) => (since > last ? since : last), range.start);
    const query = {
      bool: {
        filter: [
          exactClause(names, fields.exact('namespace')),
          timeRange(time, { from: range.start, before }),
        ],
      },
    };
    const aggregation = (field: string) => ({
      terms: { field, size: names.length, include: names },
      aggs: { first: { min: { field: time } } },
    });
    const coverage = fields.listed('namespace');
    return firstLines(await valueLists(this.#searches, { indices, query, coverage, aggregation }, call));
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

function firstLines(lists: readonly ValueList[]): Map<string, number> {
  const first = new Map<string, number>();
  for (const { name, bucket } of lists.flatMap(({ values }) => values)) {
    const { value } = recordIn(bucket, 'first');
    // Without a time that can be read, it counts as the oldest.
    const time = typeof value === 'number' ? Math.floor(value) : Number.NEGATIVE_INFINITY;
    first.set(name, Math.min(time, first.get(name) ?? Number.POSITIVE_INFINITY));
  }
  return first;
}
