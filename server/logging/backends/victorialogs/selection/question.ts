// A selection as the arguments of a request. What the caller asks for goes into the query; the time and what the caller
// may see go beside it, where the store reads each by itself and joins them: a fault in the query cannot widen them.
import type { LogRecord, NameFilter, Selection } from '../../../log-store.ts';
import { podPatterns } from '../../../matching/workload-names.ts';
import type { FieldNames } from './fields.ts';
import { eitherOf, isOneOf, matches, not, within } from './logsql.ts';
import { ALL, narrowed, scopeFilter } from './scope-filter.ts';
import { type LineFilter, levelFilter, textFilter } from './text-filter.ts';

export type Range = Selection['range'];

/** What a request asks about. */
export interface Question {
  /** LogsQL: filters all of which hold. */
  readonly lines: string;
  readonly extraFilters: readonly string[];
}

/** The question about a part of the selection's range; undefined when nothing can be found there. */
export type QuestionAbout = (range: Range) => Question | undefined;

/** A question, and what tells which of the lines that it finds are wanted. */
export interface Search {
  readonly question: QuestionAbout;
  readonly fields: FieldNames;
  readonly isMeant: (record: LogRecord) => boolean;
}

/** Finds all lines that are wanted and some others; a filter tells those that are wanted for sure, and one the rest. */
export interface QuickQuestion extends Question {
  readonly sure: string;
  readonly unsure: string;
}

export interface Questions {
  readonly exact: Question;
  /** Where the exact one costs the store much. */
  readonly quick: QuickQuestion | undefined;
  /** Without what looks into lines: cheap, and never fewer lines. */
  readonly rough: Question;
}

/**
 * Questions about parts of the selection's range, undefined where nothing can be found. What does not depend on the time
 * is done once: patterns of words take much of the time that a question takes here, and so do very many names; who
 * follows asks several times a second.
 */
export function questionsAbout(
  selection: Selection,
  fields: FieldNames,
): (range: Range) => Questions | undefined {
  const names = nameFilters(selection, fields);
  if (!names || selection.levels?.length === 0) return () => undefined;
  const rough = names.length === 0 ? ALL : names.join(' ');
  const filters = lineFilters(selection, fields);
  const sure = filters.find(({ quick }) => quick)?.quick?.sure;
  const lines = {
    exact: [rough, ...filters.flatMap(({ exact }) => exact)].join(' '),
    quick: [rough, ...filters.flatMap((filter) => filter.quick?.filters ?? filter.exact)].join(' '),
  };
  const scope = narrowed(selection.scope, selection.namespaces);
  return (range) => {
    if (range.start >= range.end) return undefined;
    const scoped = scopeFilter({ field: fields.namespace, scope, range });
    if (scoped === undefined) return undefined;
    const extraFilters = [within(range), ...(scoped === ALL ? [] : [scoped])];
    return {
      exact: { lines: lines.exact, extraFilters },
      quick: sure === undefined ? undefined : { lines: lines.quick, extraFilters, sure, unsure: not(sure) },
      rough: { lines: rough, extraFilters },
    };
  };
}

function lineFilters({ levels, text }: Selection, { message }: FieldNames): LineFilter[] {
  return [...(levels ? [levelFilter(message, levels)] : []), ...(text ? [textFilter(message, text)] : [])];
}

/** Undefined when no name can be right. */
function nameFilters(selection: Selection, fields: FieldNames): string[] | undefined {
  const { scope, namespaces, pods, containers, workloads } = selection;
  const filters = [
    // Where the scope is a list, it has been applied to that.
    ...(scope.everything ? namesIn(fields.namespace, namespaces) : []),
    ...namesIn(fields.pod, pods),
    ...namesIn(fields.container, containers),
    ...belongingTo(fields.pod, workloads),
  ];
  return filters.every((filter) => filter !== undefined) ? filters : undefined;
}

/** Undefined among them when no name can be right. */
function namesIn(field: string, filter: NameFilter | undefined): (string | undefined)[] {
  const { exact, contains } = filter ?? {};
  return [
    ...(exact ? [exact.length === 0 ? undefined : isOneOf(field, exact)] : []),
    ...(contains ? [contains.length === 0 ? undefined : holdsOneOf(field, contains)] : []),
  ];
}

/** Undefined among them when no workload can be right. */
function belongingTo(field: string, workloads: NameFilter | undefined): (string | undefined)[] {
  if (!workloads) return [];
  return podPatterns(workloads).map((pattern) =>
    pattern === '' ? undefined : matches(field, `^(?:${pattern})$`),
  );
}

/** Case is ignored in ASCII, and only there. */
function holdsOneOf(field: string, texts: readonly string[]): string {
  return eitherOf(texts.map((text) => matches(field, Array.from(text.toWellFormed(), anyCase).join(''))));
}

function anyCase(character: string): string {
  if (/^[A-Za-z]$/.test(character)) return `[${character.toUpperCase()}${character.toLowerCase()}]`;
  return /^[0-9]$/.test(character) ? character : `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
