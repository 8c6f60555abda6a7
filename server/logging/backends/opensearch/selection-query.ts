// Builder of OpenSearch queries from the criteria of a log query, such as time range, namespaces and text. Closed
// indices make the result partial.
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import type { Level } from '../../../../apis/logging/v1alpha2/log-query.ts';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import type { Call, Selection } from '../../store/log-store.ts';
import {
  anyOf,
  type Clause,
  exactClause,
  nameClauses,
  textClause,
  timeRange,
  wholeLineField,
  workloadClause,
} from './clauses.ts';
import { type CreationBounds, findCreationBounds } from './creation-bounds.ts';
import { type IndexNaming, type IndexSet, type IndexSets, indexPath } from './index-sets.ts';
import type { LayoutGroup } from './layout.ts';
import { levelClause } from './level-clause.ts';
import type { SearchClient } from './search-client.ts';
import type { FieldNames } from './search-hit.ts';

export interface SelectionQuery {
  readonly indices: IndexSet;
  readonly names: FieldNames;
  readonly range: Selection['range'];
  /** All clauses except the time range. */
  readonly clause: Filter;
  readonly shortfalls: readonly Shortfall[];
}

interface SelectionQueriesOptions {
  readonly naming: IndexNaming;
  readonly names: FieldNames;
  readonly indexSets: IndexSets;
  readonly client: SearchClient;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
}

type Scoped = CreationBounds & { readonly namespaces: readonly string[] };

export class SelectionQueries {
  readonly #options: SelectionQueriesOptions;

  constructor(options: SelectionQueriesOptions) {
    this.#options = options;
  }

  /** Builds the query; undefined if the selection can match no line. Throws NotSupported if no index supports it. */
  async query(selection: Selection, call: Call): Promise<SelectionQuery | undefined> {
    const { naming, names, indexSets } = this.#options;
    const { range } = selection;
    if (range.start >= range.end || matchesNothing(selection)) return undefined;
    const indices = await indexSets.read(indexPath(naming, range), call);
    if (!indices || indices.groups.length === 0) return undefined;
    const scope = await this.#scoped(selection, indices, call);
    if (scope?.namespaces.length === 0) return undefined;
    const { clause, shortfalls } = overLayouts(indices, (group) => this.#filter(selection, scope, group));
    const rounded = scope?.areRounded === true ? [ROUNDED] : [];
    return { indices, names, range, clause, shortfalls: [...indices.shortfalls, ...shortfalls, ...rounded] };
  }

  async #scoped({ scope, range }: Selection, indices: IndexSet, call: Call): Promise<Scoped | undefined> {
    if (scope.everything) return undefined;
    const namespaces = scope.namespaces.filter(({ since }) => since < range.end);
    const { client, wallClock, names } = this.#options;
    const search = { client, wallClock, namespaces, range, indices, time: names.time };
    const bounds = await findCreationBounds(search, call);
    return { ...bounds, namespaces: namespaces.map(({ name }) => name) };
  }

  /** Clauses for one layout. Throws NotSupported if the layout lacks a required field. */
  #filter(selection: Selection, scope: Scoped | undefined, { layout }: LayoutGroup): Filter {
    const { names } = this.#options;
    const { namespaces, pods, containers, workloads, text, levels } = selection;
    return {
      filter: [
        ...(scope ? [exactClause(scope.namespaces, layout.namespace)] : []),
        ...(namespaces ? nameClauses(namespaces, layout.namespace, names.namespace) : []),
        ...(pods ? nameClauses(pods, layout.pod, names.pod) : []),
        ...(containers ? nameClauses(containers, layout.container, names.container) : []),
        ...(workloads ? [workloadClause(workloads, layout.pod)] : []),
        ...(text ? [textClause(text, layout, names.message)] : []),
        ...(levels
          ? [levelClause(levels, wholeLineField(layout, 'level', names.message), names.message)]
          : []),
      ],
      mustNot: (scope?.bounds ?? []).map(({ since, names: earlier }) => ({
        bool: { filter: [exactClause(earlier, layout.namespace), timeRange(names.time, { before: since })] },
      })),
    };
  }
}

interface Filter {
  readonly filter: readonly Clause[];
  readonly mustNot: readonly Clause[];
}

/** The query clause. `part`: a part of the time range; default: all of it. */
export function queryOf({ names, clause, range }: SelectionQuery, part = range): Clause {
  const filter = [timeRange(names.time, { from: part.start, before: part.end }), ...clause.filter];
  return { bool: { filter, ...(clause.mustNot.length === 0 ? {} : { must_not: clause.mustNot }) } };
}

/** The clause for lines with one of the levels. Throws NotSupported for `parameter` if no index supports it. */
export function levelsClause(
  { indices, names }: SelectionQuery,
  levels: readonly Level[],
  parameter: string,
): { clause: Clause; shortfalls: readonly Shortfall[] } {
  const { clause, shortfalls } = overLayouts(indices, ({ layout }) => ({
    filter: [levelClause(levels, wholeLineField(layout, parameter, names.message), names.message)],
    mustNot: [],
  }));
  return { clause: { bool: { filter: clause.filter } }, shortfalls };
}

/** Whether the query has no other clause than the time range. */
export function isTimeRange({ clause }: SelectionQuery): boolean {
  return clause.filter.length === 0 && clause.mustNot.length === 0;
}

/** The query clause for counts. A range without other clauses is counted without reading each document. */
export function countingQueryOf(selected: SelectionQuery): Clause {
  const { names, range } = selected;
  return isTimeRange(selected)
    ? timeRange(names.time, { from: range.start, before: range.end })
    : queryOf(selected);
}

const ROUNDED: Shortfall = {
  reason: 'NotCovered',
  message:
    'too many namespaces were recreated within this time: some lines since their creation are missing; use fewer namespaces or a later start_time',
};

/** Combines the filters of the layouts, each restricted to its indices: in others, a name could match a single word. */
function overLayouts(
  { groups, indices, isSettled }: IndexSet,
  filterOf: (group: LayoutGroup) => Filter,
): { clause: Filter; shortfalls: Shortfall[] } {
  const [only] = groups;
  if (only && groups.length === 1 && isSettled) return { clause: filterOf(only), shortfalls: [] };
  const clauses: Clause[] = [];
  const rejections: { error: StatusError; indices: number }[] = [];
  for (const group of groups) {
    try {
      const { filter, mustNot } = filterOf(group);
      const within = [{ terms: { _index: group.indices } }, ...filter];
      clauses.push({ bool: { filter: within, must_not: mustNot } });
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      rejections.push({ error, indices: group.indices.length });
    }
  }
  const [first] = rejections;
  if (first && clauses.length === 0) throw first.error;
  const rejecting = rejections.reduce((sum, { indices: count }) => sum + count, 0);
  const message = `${rejecting} of ${indices.length} indices do not support this query: ${first?.error.message}`;
  return {
    clause: { filter: [anyOf(clauses)], mustNot: [] },
    shortfalls: first ? [{ reason: 'NotCovered', message }] : [],
  };
}

function matchesNothing({ scope, namespaces, pods, containers, workloads, levels }: Selection): boolean {
  if (!scope.everything && scope.namespaces.length === 0) return true;
  if (levels?.length === 0) return true;
  return [namespaces, pods, containers, workloads].some(
    (filter) => filter?.exact?.length === 0 || filter?.contains?.length === 0,
  );
}
