// A selection as the arguments of a request. What the caller asks for goes into the query; the time and what the caller
// may see go beside it, where the store reads each by itself and joins them: a fault in the query can not widen them.
import type { NameFilter, Selection } from '../../log-store.ts';
import type { FieldNames } from './fields.ts';
import { eitherOf, isOneOf, matches, within } from './logsql.ts';
import { ALL, scopeFilter } from './scope-filter.ts';
import { levelFilter, textFilter } from './text-filter.ts';

export type Range = Selection['range'];

export interface Question {
  /** LogsQL: filters, and pipes that filter. */
  readonly lines: string;
  /** The same without what looks into lines: cheap, and never fewer lines. */
  readonly roughly: string;
  readonly extraFilters: readonly string[];
}

/** Undefined when nothing can be found. `range`: a part of the selection's. */
export function questionOf(
  selection: Selection,
  fields: FieldNames,
  range: Range = selection.range,
): Question | undefined {
  if (range.start >= range.end) return undefined;
  const { scope, namespaces, pods, containers } = selection;
  const scoped = scopeFilter({ field: fields.namespace, scope, wanted: namespaces, range });
  if (scoped === undefined) return undefined;
  const names = [
    ...(scope.everything ? nameFilters(fields.namespace, namespaces) : []),
    ...nameFilters(fields.pod, pods),
    ...nameFilters(fields.container, containers),
  ];
  if (names.includes(undefined)) return undefined;
  const patterns = (selection.podPatterns ?? []).map((each) => matches(fields.pod, `^(?:${each})$`));
  const cheap = [...names, ...patterns];
  const lines = [
    ...(selection.levels ? [levelFilter(fields.message, selection.levels)] : []),
    ...(selection.text ? [textFilter(fields.message, selection.text)] : []),
  ];
  const filters = [...cheap, ...lines.flatMap((each) => each.filters)];
  const pipes = lines.flatMap((each) => each.pipes);
  return {
    lines: [conjunction(filters), ...pipes].join(' | '),
    roughly: conjunction(cheap),
    extraFilters: [within(range), ...(scoped === ALL ? [] : [scoped])],
  };
}

function conjunction(filters: readonly (string | undefined)[]): string {
  return filters.length === 0 ? ALL : filters.join(' ');
}

/** Undefined among them when no name can be right. */
function nameFilters(field: string, filter: NameFilter | undefined): (string | undefined)[] {
  const { exact, contains } = filter ?? {};
  return [
    ...(exact ? [exact.length === 0 ? undefined : isOneOf(field, exact)] : []),
    ...(contains
      ? [contains.length === 0 ? undefined : eitherOf(contains.map((text) => holds(field, text)))]
      : []),
  ];
}

/** Case counts for nothing in ASCII, and only there. */
function holds(field: string, text: string): string {
  const pattern = Array.from(text, (character) => {
    if (/^[A-Za-z]$/.test(character)) return `[${character.toUpperCase()}${character.toLowerCase()}]`;
    return /^[0-9]$/.test(character) ? character : `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  }).join('');
  return matches(field, pattern);
}
