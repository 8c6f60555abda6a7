// A selection as queries that the store takes: one, as a rule. A query may hold about a thousand clauses, so where more
// namespaces than that leaves room for have a bound of their own, it is cut into slices that share no line.
import type { Shortfall } from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import type { Selection } from '../../../log-store.ts';
import type { FieldCoverage, FieldMap } from '../fields/field-map.ts';
import { allOf, type Clause } from '../searches/clause.ts';
import { exactClause } from './name-clauses.ts';
import type { Bound } from './predecessors.ts';
import { timeRange } from './range-clause.ts';

type Range = Selection['range'];

export interface SelectionQuery {
  /** Part of a path. */
  readonly indices: string;
  readonly fields: FieldMap;
  /** What the query covers. */
  readonly range: Range;
  readonly query: Clause;
  /** The same for aggregations: a range that stands alone they count without a look at each line. */
  readonly counting: Clause;
  /** Whether it stands alone: all lines of the range are meant. */
  readonly isWhole: boolean;
  /** The same within a part of the range. */
  readonly within: (range: Range) => Clause;
  /** Of the indices, those that can hold lines of a part of the range. */
  readonly indicesWithin: (range: Range) => string;
  /** What the indices cannot tell. */
  readonly shortfalls: readonly Shortfall[];
}

/** A selection before it is divided into slices. */
export interface UnslicedQuery
  extends Pick<SelectionQuery, 'indices' | 'indicesWithin' | 'fields' | 'range' | 'shortfalls'> {
  /** Applies to every line, in addition to range and scope. */
  readonly filter: readonly Clause[];
  /** The only namespaces; undefined: all there are. */
  readonly scope: ScopeClause | undefined;
}

export interface ScopeClause {
  readonly names: readonly string[];
  readonly coverage: FieldCoverage;
  /** Ascending, each within the range. */
  readonly bounds: readonly Bound[];
}

/** Each is three of the 1,024 clauses that a query may hold; the rest is for what else is asked. */
const MAX_BOUNDS = 280;

/** Slices of time, ascending, none of them reaching into the next. */
export function slicesOfTime(unsliced: UnslicedQuery): SelectionQuery[] {
  const { scope, range } = unsliced;
  if (!scope) return [sliceOf(unsliced, range, undefined)];
  const parts = partsOf(scope.bounds);
  return parts.map((bounds, n) => {
    const start = parts[n - 1]?.at(-1)?.since ?? range.start;
    const end = n === parts.length - 1 ? range.end : (bounds.at(-1)?.since ?? range.end);
    // Namespaces with an earlier bound need none here; those with a later one have no line here at all.
    const later = new Set(namesOf(parts.slice(n + 1).flat()));
    const names = scope.names.filter((name) => !later.has(name));
    return sliceOf(unsliced, { start, end }, { ...scope, names, bounds });
  });
}

/** Slices of namespaces: containers are of one namespace, so that what slices count adds up. */
export function slicesOfNamespaces(unsliced: UnslicedQuery): SelectionQuery[] {
  const { scope, range } = unsliced;
  if (!scope) return [sliceOf(unsliced, range, undefined)];
  const [first = [], ...others] = partsOf(scope.bounds);
  const elsewhere = new Set(namesOf(others.flat()));
  const rest = scope.names.filter((name) => !elsewhere.has(name));
  return [
    sliceOf(unsliced, range, { ...scope, names: rest, bounds: first }),
    ...others.map((bounds) => sliceOf(unsliced, range, { ...scope, names: namesOf(bounds), bounds })),
  ];
}

/** At least one, which may be empty. */
function partsOf(bounds: readonly Bound[]): (readonly Bound[])[] {
  return Array.from({ length: Math.max(1, Math.ceil(bounds.length / MAX_BOUNDS)) }, (_, n) =>
    bounds.slice(n * MAX_BOUNDS, (n + 1) * MAX_BOUNDS),
  );
}

function namesOf(bounds: readonly Bound[]): string[] {
  return bounds.flatMap(({ names }) => names);
}

function sliceOf(unsliced: UnslicedQuery, range: Range, scope: ScopeClause | undefined): SelectionQuery {
  const { indices, indicesWithin, fields, shortfalls } = unsliced;
  const { time } = fields.names;
  const filter = [...(scope ? [exactClause(scope.names, scope.coverage)] : []), ...unsliced.filter];
  const excluded = scope
    ? scope.bounds.map(({ since, names }) =>
        allOf([exactClause(names, scope.coverage), timeRange(time, { before: since })]),
      )
    : [];
  const within = ({ start, end }: Range): Clause => ({
    bool: {
      filter: [timeRange(time, { from: start, before: end }), ...filter],
      ...(excluded.length === 0 ? {} : { must_not: excluded }),
    },
  });
  const query = within(range);
  const isWhole = filter.length === 0 && excluded.length === 0;
  const counting = isWhole ? timeRange(time, { from: range.start, before: range.end }) : query;
  return { indices, indicesWithin, fields, range, query, counting, isWhole, within, shortfalls };
}
