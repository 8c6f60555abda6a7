// A selection as the arguments of requests. The caller's filters are the query; the time range and the scope are
// extra_filters, which the store parses on their own and joins by AND: no text in the query can widen them.
import type { NameFilter, Scope, Selection } from '../../log-store.ts';
import { podPatterns } from '../../matching/workload-names.ts';
import { levelFilter, textFilter } from './line-filters.ts';
import { ALL, anyOf, type FieldNames, isOneOf, matchesPattern, type Range, within } from './logsql.ts';
import { narrowedScope, scopeFilter } from './scope-filter.ts';

export interface Query {
  /** Filters of LogsQL, joined by AND. */
  readonly filter: string;
  readonly extraFilters: readonly string[];
}

/** Builds everything that does not depend on the time once: a live tail queries several times a second. */
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
      ...(levels ? [levels.length === 0 ? undefined : levelFilter(fields.message, levels)] : []),
      ...(text ? [textFilter(fields.message, text)] : []),
    ];
    this.#names = joined(names);
    this.#all = joined([...names, ...lines]);
  }

  /** Matches the records of the selection in the range; undefined when there can be none. */
  within(range: Range): Query | undefined {
    return this.#query(this.#all, range);
  }

  /** The same without the filters on lines: matches more records, and the store answers from its index. */
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

/** Undefined when one of the filters matches nothing. */
function joined(filters: readonly (string | undefined)[]): string | undefined {
  if (filters.length === 0) return ALL;
  return filters.every((filter) => filter !== undefined) ? filters.join(' ') : undefined;
}

function nameFilters(
  { scope, namespaces, pods, containers, workloads }: Selection,
  fields: FieldNames,
): (string | undefined)[] {
  return [
    // A scope with a list contains the requested namespaces only.
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
