// Builder of the VictoriaLogs parameters `query` and `extra_filters` from the criteria of a log query. The text in
// `query` can never widen the time range or the namespaces in `extra_filters`.

import { nameMatcher } from '../../matching/name-filter.ts';
import { podPatterns } from '../../matching/workload-names.ts';
import type { NameFilter, Scope, Selection } from '../../store/log-store.ts';
import { levelFilter, textFilter } from './line-filters.ts';
import { ALL, anyOf, type FieldNames, isOneOf, matchesPattern, type Range, since, within } from './logsql.ts';

export interface Query {
  /** Filters of LogsQL, joined by AND. */
  readonly filter: string;
  readonly extraFilters: readonly string[];
}

/** Queries of one selection. Filters other than the time range are built once, because a live tail queries often. */
export class SelectionQuery {
  readonly fields: FieldNames;
  readonly range: Range;
  readonly #scope: Scope;
  /** Undefined when no record can match. */
  readonly #names: string | undefined;
  readonly #all: string | undefined;

  constructor(selection: Selection, fields: FieldNames) {
    const { levels, text, scope, namespaces, range } = selection;
    this.fields = fields;
    this.range = range;
    this.#scope = narrowedScope(scope, namespaces);
    const names = nameFilters(selection, fields);
    const lines = [
      ...(levels ? [levels.length === 0 ? undefined : levelFilter(levels)] : []),
      ...(text ? [textFilter(text)] : []),
    ];
    this.#names = joined(names);
    this.#all = joined([...names, ...lines]);
  }

  /** Returns the query for the records of the selection in the range; undefined when no record can match. */
  within(range: Range): Query | undefined {
    return this.#query(this.#all, range);
  }

  /** Like `within`, without the filters for the text of lines. It matches more records; the store evaluates its index only. */
  withinByName(range: Range): Query | undefined {
    return this.#all === undefined ? undefined : this.#query(this.#names, range);
  }

  #query(filter: string | undefined, range: Range): Query | undefined {
    if (filter === undefined || range.start >= range.end) return undefined;
    const scope = scopeFilter(this.fields.namespace, this.#scope, range);
    if (scope === undefined) return undefined;
    return { filter, extraFilters: [within(range), ...(scope === ALL ? [] : [scope])] };
  }
}

/** Joins filters by AND. Returns undefined when one of them matches nothing. */
function joined(filters: readonly (string | undefined)[]): string | undefined {
  if (filters.length === 0) return ALL;
  return filters.every((filter) => filter !== undefined) ? filters.join(' ') : undefined;
}

function nameFilters(
  { scope, namespaces, pods, containers, workloads }: Selection,
  fields: FieldNames,
): (string | undefined)[] {
  return [
    // A scope with a list already contains only the requested namespaces.
    ...(scope.everything ? fieldFilters(fields.namespace, namespaces) : []),
    ...fieldFilters(fields.pod, pods),
    ...fieldFilters(fields.container, containers),
    ...workloadFilters(fields.pod, workloads),
  ];
}

function fieldFilters(field: string, filter: NameFilter | undefined): (string | undefined)[] {
  const { exact, contains } = filter ?? {};
  return [
    ...(exact ? [exact.length === 0 ? undefined : isOneOf(field, exact)] : []),
    ...(contains ? [contains.length === 0 ? undefined : containsOneOf(field, contains)] : []),
  ];
}

function workloadFilters(field: string, workloads: NameFilter | undefined): (string | undefined)[] {
  if (!workloads) return [];
  return podPatterns(workloads).map((pattern) =>
    pattern === '' ? undefined : matchesPattern(field, `^(?:${pattern})$`),
  );
}

/** Ignores the case of ASCII letters only. */
function containsOneOf(field: string, texts: readonly string[]): string {
  const anyCase = (text: string): string => Array.from(text.toWellFormed(), inAnyCase).join('');
  return anyOf(texts.map((text) => matchesPattern(field, anyCase(text))));
}

function inAnyCase(character: string): string {
  if (/^[A-Za-z]$/.test(character)) return `[${character.toUpperCase()}${character.toLowerCase()}]`;
  return /^[0-9]$/.test(character) ? character : `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Reduces a scope with a list of namespaces to the requested ones. */
function narrowedScope(scope: Scope, requested: NameFilter | undefined): Scope {
  if (scope.everything) return scope;
  const isRequested = nameMatcher(requested);
  return { everything: false, namespaces: scope.namespaces.filter(({ name }) => isRequested(name)) };
}

/** Returns the filter for the namespaces of the scope, each since its creation; undefined when there are none. */
function scopeFilter(field: string, scope: Scope, { start, end }: Range): string | undefined {
  if (scope.everything) return ALL;
  const readable = scope.namespaces.filter((each) => each.since < end);
  // Usually few namespaces were created within the range; all others share one filter.
  const older = readable.filter((each) => each.since <= start).map(({ name }) => name);
  const newer = readable.filter((each) => each.since > start);
  const parts = [...(older.length > 0 ? [isOneOf(field, older)] : []), ...groupedFilters(field, newer)];
  return parts.length === 0 ? undefined : anyOf(parts);
}

type Namespace = Extract<Scope, { everything: false }>['namespaces'][number];

/**
 * Filters for namespaces that were created within the range. VictoriaLogs evaluates alternatives one by one on each block of
 * records, so groups of √n namespaces take dozens of steps instead of thousands.
 */
function groupedFilters(field: string, namespaces: readonly Namespace[]): string[] {
  const size = Math.max(1, Math.ceil(Math.sqrt(namespaces.length)));
  const groups = Array.from({ length: Math.ceil(namespaces.length / size) }, (_, index) =>
    namespaces.slice(index * size, (index + 1) * size),
  );
  return groups.map((group) => {
    const names = group.map(({ name }) => name);
    const filters = group.map((each) => `(${isOneOf(field, [each.name])} ${since(each.since)})`);
    return group.length === 1 ? filters.join('') : `(${isOneOf(field, names)} ${anyOf(filters)})`;
  });
}
