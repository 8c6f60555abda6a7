// A selection as clauses of the store that all hold, and what they cannot cover.
import type { Shortfall } from '../../../../../apis/logging/v1alpha2/log-answer.ts';
import type { Call, Selection } from '../../../log-store.ts';
import { newNotSupported } from '../../../store-errors.ts';
import { STORE } from '../connection/store-name.ts';
import type { FieldCoverage, FieldMap, Gap } from '../fields/field-map.ts';
import type { Clause } from '../searches/clause.ts';
import type { Searches } from '../searches/searches.ts';
import type { FieldProbe, SearchableIndices } from './field-probe.ts';
import { type IndexNaming, indexPattern, indicesWithin, newestDays, without } from './index-names.ts';
import { levelClause } from './level-clauses.ts';
import { containsClause, exactClause, exactOrNoneClause, isTooMuch, workloadClause } from './name-clauses.ts';
import { namesContaining } from './name-lookup.ts';
import type { Predecessors } from './predecessors.ts';
import { timeRange } from './range-clause.ts';
import {
  type ScopeClause,
  type SelectionQuery,
  slicesOfNamespaces,
  slicesOfTime,
  type UnslicedQuery,
} from './selection-query.ts';
import { textClause } from './text-clauses.ts';

export interface SelectionQueriesOptions {
  readonly searches: Searches;
  readonly naming: IndexNaming;
  readonly probe: FieldProbe;
  readonly predecessors: Predecessors;
}

/** What is searched: of all questions about a selection the first, and the same. */
interface SearchTarget {
  readonly indices: string;
  readonly fields: FieldMap;
  /** The coverages that were used. */
  readonly used: Gap[];
}

export class SelectionQueries {
  readonly #options: SelectionQueriesOptions;

  constructor(options: SelectionQueriesOptions) {
    this.#options = options;
  }

  /**
   * One query, or one for each slice of the time, ascending. None when nothing can be found, so that nobody has to be
   * asked. Throws NotSupported.
   */
  async inTime(selection: Selection, call: Call): Promise<readonly SelectionQuery[]> {
    const unsliced = await this.#unsliced(selection, call);
    return unsliced ? slicesOfTime(unsliced) : [];
  }

  /** The same, a query for each slice of the namespaces. */
  async byNamespace(selection: Selection, call: Call): Promise<readonly SelectionQuery[]> {
    const unsliced = await this.#unsliced(selection, call);
    return unsliced ? slicesOfNamespaces(unsliced) : [];
  }

  /** Which indices there are is asked anew by the next question. */
  forgetIndices(): void {
    this.#options.probe.forget();
  }

  async #unsliced(selection: Selection, call: Call): Promise<UnslicedQuery | undefined> {
    const { range } = selection;
    if (range.start >= range.end || findsNothing(selection)) return undefined;
    const { naming, probe } = this.#options;
    const newest = (): string | undefined => newestDays(naming, range);
    const searchable = await probe.searchable(indexPattern(naming, range), call, newest);
    if (!searchable) return undefined;
    const { fields } = searchable;
    const lines = [
      ...(selection.text ? [textClause(selection.text, fields)] : []),
      ...(selection.levels ? [levelClause(selection.levels, fields)] : []),
    ];
    const byWords = lines.some((line) => line.byWords);
    const used: Gap[] = [fields.times, ...(byWords ? [fields.words] : [])];
    const leftOut = [...new Set(used.flatMap(({ missing }) => missing))];
    const indices = without(searchable.indices, leftOut);
    const target: SearchTarget = { indices, fields, used };
    const scope = await this.#scoped(selection, target, call);
    if (scope?.names.length === 0) return undefined;
    const filter: Clause[] = [...(await this.#named(selection, scope, target, call))];
    for (const { clause, wildcard } of lines) {
      filter.push(clause);
      if (wildcard) target.used.push(wildcard);
    }
    const named = { indices, known: fields.indices, refused: [...searchable.refused, ...leftOut] };
    return {
      indices,
      indicesWithin: (part) => indicesWithin(naming, named, part),
      fields,
      range,
      filter,
      scope,
      shortfalls: [...refusalsOf(searchable), ...gapsOf(target.used)],
    };
  }

  async #scoped(
    { scope, range }: Selection,
    target: SearchTarget,
    call: Call,
  ): Promise<ScopeClause | undefined> {
    if (scope.everything) return undefined;
    const namespaces = scope.namespaces.filter(({ since }) => since < range.end);
    const coverage = exactFields(target, 'namespace');
    const bounds = await this.#options.predecessors.bounds({ ...target, namespaces, range }, call);
    return { names: namespaces.map(({ name }) => name), coverage, bounds };
  }

  /** The names that are asked for. */
  async #named(
    selection: Selection,
    scope: ScopeClause | undefined,
    target: SearchTarget,
    call: Call,
  ): Promise<Clause[]> {
    const { range } = selection;
    const filter: Clause[] = [];
    for (const [field, names] of [
      ['namespace', selection.namespaces],
      ['pod', selection.pods],
      ['container', selection.containers],
    ] as const) {
      if (!names) continue;
      const coverage = exactFields(target, field);
      if (isTooMuch(names)) {
        const within = [
          timeRange(target.fields.names.time, { from: range.start, before: range.end }),
          ...(scope ? [exactClause(scope.names, scope.coverage)] : []),
          ...filter,
        ];
        const lookup = {
          indices: target.indices,
          filter: within,
          coverage: listedFields(target, field),
          parameter: `${field}_query`,
        };
        const found = await namesContaining(this.#options.searches, names.contains ?? [], lookup, call);
        filter.push(exactClause(found, coverage));
      } else if (names.contains) filter.push(containsClause(names.contains, coverage));
      if (names.exact) filter.push(exactOrNoneClause(names.exact, coverage, target.fields.names[field]));
    }
    if (selection.workloads) {
      filter.push(workloadClause(selection.workloads, exactFields(target, 'pod')));
    }
    return filter;
  }
}

function findsNothing({ scope, namespaces, pods, containers, workloads, levels }: Selection): boolean {
  if (!scope.everything && scope.namespaces.length === 0) return true;
  if (levels?.length === 0) return true;
  return [namespaces, pods, containers, workloads].some(
    (filter) => filter?.exact?.length === 0 || filter?.contains?.length === 0,
  );
}

/** Throws NotSupported when names cannot be compared as a whole: a part of a name is another name. */
function exactFields(
  { fields, used }: SearchTarget,
  field: 'namespace' | 'pod' | 'container',
): FieldCoverage {
  const coverage = fields.exact(field);
  if (coverage.fields.length > 0 || coverage.of === 0) {
    used.push(coverage);
    return coverage;
  }
  const name = fields.names[field];
  throw newNotSupported(
    STORE,
    `${field}s`,
    `its field \`${name}\` has to be an indexed keyword, or to have one beside it`,
  );
}

/** The same when there is no telling which names there are. */
function listedFields(
  { fields, used }: SearchTarget,
  field: 'namespace' | 'pod' | 'container',
): FieldCoverage {
  const coverage = fields.listed(field);
  used.push(coverage);
  if (coverage.fields.length > 0 || coverage.of === 0) return coverage;
  throw newNotSupported(
    STORE,
    `${field}_query`,
    `its field \`${fields.names[field]}\` has to have doc_values for so many, or so long, texts; ask for fewer`,
  );
}

/** Names that are told of. */
const TOLD = 5;

function refusalsOf({ refused, closed, areMoreClosed, oldest }: SearchableIndices): Shortfall[] {
  const messages = [
    ...(refused.length > 0 ? [`refuses to search ${listed(refused)}`] : []),
    ...(closed.length > 0 ? [`has closed ${listed(closed, areMoreClosed)}`] : []),
    ...(oldest ? [`refuses to search all indices at once: those before ${oldest} are left out`] : []),
  ];
  return messages.map((message) => ({ reason: 'NotCovered', message: `the log store ${message}` }));
}

function listed(names: readonly string[], areMore = false): string {
  const more = areMore ? ' and more' : ` and ${names.length - TOLD} more`;
  return `${names.slice(0, TOLD).join(', ')}${areMore || names.length > TOLD ? `${more} indices` : ''}`;
}

function gapsOf(used: readonly Gap[]): Shortfall[] {
  const worst = used.toSorted((a, b) => b.missing.length - a.missing.length)[0];
  if (!worst || worst.missing.length === 0) return [];
  const message = `${worst.missing.length} of ${worst.of} indices have no field that can be asked this`;
  return [{ reason: 'NotCovered', message }];
}
