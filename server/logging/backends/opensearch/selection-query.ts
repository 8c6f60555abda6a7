// A selection as a query of the store: clauses that all hold, and what they can not cover.
import type { Shortfall } from '../../../../apis/logging/v1alpha2/log-answer.ts';
import type { Call, Selection } from '../../log-store.ts';
import { newNotSupported } from '../../store-errors.ts';
import type { Clause } from './clause.ts';
import type { Coverage, FieldMap } from './field-map.ts';
import type { FieldProbe } from './field-probe.ts';
import { type IndexNaming, indexPattern } from './index-names.ts';
import { levelClause } from './level-clauses.ts';
import { containsClause, exactClause, isTooMuch, patternClauses } from './name-clauses.ts';
import { namesContaining } from './name-lookup.ts';
import type { Predecessors } from './predecessors.ts';
import { timeRange } from './range-clause.ts';
import type { Searches } from './searches.ts';
import { STORE } from './store-name.ts';
import { textClause } from './text-clauses.ts';

export interface SelectionQuery {
  /** Part of a path. */
  readonly indices: string;
  readonly fields: FieldMap;
  readonly query: Clause;
  /** What the indices can not tell. */
  readonly shortfalls: readonly Shortfall[];
}

export interface SelectionQueriesOptions {
  readonly searches: Searches;
  readonly naming: IndexNaming;
  readonly probe: FieldProbe;
  readonly predecessors: Predecessors;
}

export class SelectionQueries {
  readonly #options: SelectionQueriesOptions;

  constructor(options: SelectionQueriesOptions) {
    this.#options = options;
  }

  /** Undefined when nothing can be found, so that nobody has to be asked. Throws NotSupported. */
  async query(selection: Selection, call: Call): Promise<SelectionQuery | undefined> {
    const { searches, naming, probe, predecessors } = this.#options;
    const { range, scope } = selection;
    if (range.start >= range.end || findsNothing(selection)) return undefined;
    const indices = indexPattern(naming, range);
    const fields = await probe.fields(indices, call);
    if (!fields) return undefined;
    const used: Coverage[] = [];
    const exact = (field: 'namespace' | 'pod' | 'container') => {
      const coverage = exactFields(fields, field);
      used.push(coverage);
      return coverage;
    };
    const filter: Clause[] = [timeRange(fields.names.time, { from: range.start, before: range.end })];
    const exclusions: Clause[] = [];
    const shortfalls: Shortfall[] = [];
    if (!scope.everything) {
      const namespaces = scope.namespaces.filter(({ since }) => since < range.end);
      if (namespaces.length === 0) return undefined;
      const names = namespaces.map(({ name }) => name);
      filter.push(exactClause(names, exact('namespace')));
      const excluded = await predecessors.exclusions(namespaces, { range, indices, fields }, call);
      exclusions.push(...excluded.clauses);
      shortfalls.push(...excluded.shortfalls);
    }
    for (const [field, names] of [
      ['namespace', selection.namespaces],
      ['pod', selection.pods],
      ['container', selection.containers],
    ] as const) {
      if (!names) continue;
      const coverage = exact(field);
      if (isTooMuch(names)) {
        const lookup = { indices, filter: [...filter], coverage, parameter: `${field}_query` };
        const found = await namesContaining(searches, names.contains ?? [], lookup, call);
        filter.push(exactClause(found, coverage));
      } else if (names.contains) filter.push(containsClause(names.contains, coverage));
      if (names.exact) filter.push(exactClause(names.exact, coverage));
    }
    if (selection.podPatterns) filter.push(patternClauses(selection.podPatterns, exact('pod')));
    const lines = [
      ...(selection.text ? [textClause(selection.text, fields)] : []),
      ...(selection.levels ? [levelClause(selection.levels, fields)] : []),
    ];
    for (const { clause, wildcard } of lines) {
      filter.push(clause);
      if (wildcard) used.push(wildcard);
    }
    const query = { bool: { filter, ...(exclusions.length === 0 ? {} : { must_not: exclusions }) } };
    return { indices, fields, query, shortfalls: [...shortfalls, ...gapsOf(used)] };
  }
}

function findsNothing({ scope, namespaces, pods, containers, levels }: Selection): boolean {
  if (!scope.everything && scope.namespaces.length === 0) return true;
  if (levels?.length === 0) return true;
  return [namespaces, pods, containers].some(
    (filter) => filter?.exact?.length === 0 || filter?.contains?.length === 0,
  );
}

/** Throws NotSupported when names can not be compared as a whole: a part of a name is another name. */
function exactFields(fields: FieldMap, field: 'namespace' | 'pod' | 'container'): Coverage {
  const coverage = fields.exact(field);
  if (coverage.fields.length > 0 || coverage.of === 0) return coverage;
  const name = fields.names[field];
  throw newNotSupported(
    STORE,
    `${field}s`,
    `its field \`${name}\` has to be a keyword, or to have one beside it`,
  );
}

function gapsOf(used: readonly Coverage[]): Shortfall[] {
  const worst = used.toSorted((a, b) => b.missing - a.missing)[0];
  if (!worst || worst.missing === 0) return [];
  const message = `${worst.missing} of ${worst.of} indices have no field that can be asked this`;
  return [{ reason: 'NotCovered', message }];
}
