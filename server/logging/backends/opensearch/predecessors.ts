// Namespaces that were deleted and made anew: what their predecessors wrote must not be found. A bound for each of
// 1,500 namespaces is more than a query may hold, so only those get one that really have lines from before.
import { createHash } from 'node:crypto';
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import { instantOf, millisecondsOf } from '../../instant.ts';
import type { Call, Selection } from '../../log-store.ts';
import { newStoreUnavailable } from '../../store-errors.ts';
import type { Clause } from './clause.ts';
import type { FieldMap } from './field-map.ts';
import { arrayOf, isObject, textOf } from './json-reader.ts';
import { exactClause } from './name-clauses.ts';
import { timeRange } from './range-clause.ts';
import type { SearchAnswer } from './search-answer.ts';
import type { Searches } from './searches.ts';
import { STORE } from './store-name.ts';

type Namespaces = readonly { readonly name: string; readonly since: string }[];

/** Bounds that are just written down. Each is three of the 1,024 clauses that a query may hold. */
const DIRECT = 100;
const MAX_BOUNDS = 280;
/** Lines of a predecessor may still be on their way for so long. */
const SETTLED_MS = 3_600_000;
const TRUSTED_MS = 10_000;
const KEPT = 32;

export interface Exclusions {
  /** Clauses that must not hold. */
  readonly clauses: readonly Clause[];
  readonly shortfalls: readonly Shortfall[];
}

const TOO_MANY: Shortfall = {
  reason: 'NotCovered',
  message:
    'of namespaces that were made anew, the first lines are left out: there are too many for one question',
};

export class Predecessors {
  readonly #searches: Searches;
  readonly #now: () => number;
  readonly #wallClock: () => number;
  readonly #known = new Map<string, { readonly at: number; readonly names: ReadonlySet<string> }>();

  constructor(searches: Searches, now: () => number, wallClock: () => number) {
    this.#searches = searches;
    this.#now = now;
    this.#wallClock = wallClock;
  }

  /** What these namespaces' predecessors wrote within the range. */
  async exclusions(
    namespaces: Namespaces,
    { range, indices, fields }: { range: Selection['range']; indices: string; fields: FieldMap },
    call: Call,
  ): Promise<Exclusions> {
    const late = namespaces.filter(({ since }) => since > range.start);
    let bounds = grouped(late);
    if (bounds.size > DIRECT) {
      const settled = instantOf(this.#wallClock() - SETTLED_MS);
      const old = late.filter(({ since }) => since < settled);
      const having = await this.#withPredecessors(old, range.start, indices, fields, call);
      bounds = grouped(late.filter(({ name, since }) => since >= settled || having.has(name)));
    }
    const coverage = fields.exact('namespace');
    const clauses = [...fitting(bounds)].map(([since, names]) => ({
      bool: { filter: [exactClause(names, coverage), timeRange(fields.names.time, { before: since })] },
    }));
    return { clauses, shortfalls: bounds.size > MAX_BOUNDS ? [TOO_MANY] : [] };
  }

  async #withPredecessors(
    namespaces: Namespaces,
    start: string,
    indices: string,
    fields: FieldMap,
    call: Call,
  ): Promise<ReadonlySet<string>> {
    if (namespaces.length === 0) return new Set();
    const hash = createHash('sha256')
      .update(JSON.stringify([start, indices, namespaces]))
      .digest('base64');
    const known = this.#known.get(hash);
    if (known && this.#now() - known.at < TRUSTED_MS) return known.names;
    const names = await this.#ask(namespaces, start, indices, fields, call);
    this.#known.delete(hash);
    this.#known.set(hash, { at: this.#now(), names });
    const [oldest] = this.#known.keys();
    if (this.#known.size > KEPT && oldest !== undefined) this.#known.delete(oldest);
    return names;
  }

  async #ask(
    namespaces: Namespaces,
    start: string,
    indices: string,
    fields: FieldMap,
    call: Call,
  ): Promise<ReadonlySet<string>> {
    const { time } = fields.names;
    const coverage = fields.exact('namespace');
    const names = namespaces.map(({ name }) => name);
    const before = namespaces.reduce((last, { since }) => (since > last ? since : last), start);
    const aggregation = ({ name }: { name: string }) => ({
      terms: { field: name, size: names.length, include: names },
      aggs: { first: { min: { field: time } } },
    });
    const answer = await this.#searches.searchIndices(
      indices,
      {
        size: 0,
        track_total_hits: false,
        query: {
          bool: { filter: [exactClause(names, coverage), timeRange(time, { from: start, before })] },
        },
        aggs: Object.fromEntries(coverage.fields.map((field, n) => [`namespaces${n}`, aggregation(field)])),
      },
      call,
    );
    // Whoever might have a predecessor that was not seen would show it.
    if (answer.shortfalls.length > 0)
      throw newStoreUnavailable(STORE, new Error('a part of it did not answer'));
    const first = firstLines(answer);
    return new Set(
      namespaces.filter(({ name, since }) => isBefore(first.get(name), since)).map(({ name }) => name),
    );
  }
}

/** Whether a line of that millisecond may have been written before. */
function isBefore(first: number | undefined, since: string): boolean {
  if (first === undefined) return false;
  const begin = millisecondsOf(since);
  return first < begin || (first === begin && instantOf(begin) < since);
}

function grouped(namespaces: Namespaces): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { name, since } of namespaces) {
    const group = groups.get(since);
    if (group) group.push(name);
    else groups.set(since, [name]);
  }
  return groups;
}

/** Neighbours share the last of their bounds where there are too many: rather too little is shown than too much. */
function fitting(bounds: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const each = Math.ceil(bounds.size / MAX_BOUNDS);
  const ascending = [...bounds].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const groups = Map.groupBy(ascending.entries(), ([index]) => Math.floor(index / each));
  return new Map(
    [...groups.values()].map((group) => [
      group.at(-1)?.[1][0] ?? '',
      group.flatMap(([, [, names]]) => names),
    ]),
  );
}

/** Milliseconds of each namespace's first line. */
function firstLines({ aggregations }: SearchAnswer): Map<string, number> {
  const first = new Map<string, number>();
  for (const aggregation of Object.values(aggregations)) {
    const buckets = isObject(aggregation) ? arrayOf(aggregation['buckets'], 'buckets') : [];
    for (const bucket of buckets) {
      const name = isObject(bucket) ? textOf(bucket['key']) : undefined;
      const value = isObject(bucket) && isObject(bucket['first']) ? bucket['first']['value'] : undefined;
      if (name === undefined) throw newStoreUnavailable(STORE, new Error('a bucket has no name'));
      // Without a time that can be read, it counts as the oldest.
      const time = typeof value === 'number' ? Math.floor(value) : Number.NEGATIVE_INFINITY;
      first.set(name, Math.min(time, first.get(name) ?? Number.POSITIVE_INFINITY));
    }
  }
  return first;
}
