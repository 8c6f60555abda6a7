// Validates combinations of log query parameters. The JSON Schema in log-query.ts validates single parameters.
import type { ParameterNames } from '../../meta/v1/query-decoder.ts';
import type { StatusCause } from '../../meta/v1/status.ts';
import { invalidValue } from '../../meta/v1/validation-causes.ts';
import { quoted } from '../../reading/schema-error.ts';
import { type LogQuery, MAX_DEPTH, MAX_TEXT, MAX_TEXTS, MAX_WORDS, type MatchMode } from './log-query.ts';

type Check = (value: string) => string | undefined;

/** Checks of the server: each returns the validation error, or undefined for a valid value. */
export interface ServerChecks {
  readonly cursor?: Check;
  readonly context?: Check;
}

export function validateLogQuery(
  query: LogQuery,
  names: ParameterNames,
  checks: ServerChecks,
): StatusCause[] {
  return [
    ...validateTimes(query),
    ...validateDepth(query, names),
    ...validateTexts(query, names),
    ...validateOpaqueValues(query, checks),
    ...validateCombinations(query, names),
  ];
}

function validateTimes({ start_time: start, end_time: end }: LogQuery): StatusCause[] {
  if (start === undefined || end === undefined || start <= end) return [];
  return [invalidValue('end_time', `${end} is before start_time, ${start}`)];
}

/** Consoles send `from` and `size` with every operation; only `query` skips lines. */
function validateDepth(
  { operation, from, size, context, follow }: LogQuery,
  { refused }: ParameterNames,
): StatusCause[] {
  if (['operation', 'size', 'context', 'follow'].some((name) => refused.has(name))) return [];
  if (operation !== 'query' || context !== undefined || follow || from + size <= MAX_DEPTH) return [];
  const message = `${from} with a size of ${size} exceeds ${MAX_DEPTH} lines; use cursor for deeper pages`;
  return [invalidValue('from', message)];
}

function validateTexts(query: LogQuery, { refused }: ParameterNames): StatusCause[] {
  if (refused.has('match')) return [];
  const search = textSearchOf(query);
  const { texts } = search;
  if (query.log_query !== undefined && texts.length === 0) {
    return [invalidValue('log_query', `${quoted(query.log_query)} has no text between its commas`)];
  }
  if (texts.length > MAX_TEXTS) {
    const message = `has more than ${MAX_TEXTS} texts separated by commas; with match=substring a comma is part of the text`;
    return [invalidValue('log_query', message)];
  }
  const long = texts.filter((text) => text.length > MAX_TEXT);
  if (long.length > 0) {
    const message = `is longer than ${MAX_TEXT} characters; use a part of it`;
    return long.map((text) => invalidValue('log_query', `${quoted(text)} ${message}`));
  }
  return validateText(search).map(({ text, error }) => invalidValue('log_query', `${quoted(text)} ${error}`));
}

interface TextError {
  readonly text: string;
  readonly error: string;
}

function validateText({ mode, texts }: TextSearch): readonly TextError[] {
  if (mode === 'substring') return [];
  if (mode === 'regex') {
    const error = `repeats too much: ${MAX_REPETITION} is the maximum of its length, times the counts of its repetitions`;
    return texts.filter((text) => repetition(text) > MAX_REPETITION).map((text) => ({ text, error }));
  }
  const [text = ''] = texts;
  const words = texts.reduce((sum, each) => sum + wordsOf(each).length, 0);
  if (texts.length > 0 && words === 0) {
    return [{ text, error: 'has no word to look for; match=substring finds other characters' }];
  }
  if (words <= MAX_WORDS) return [];
  const subject = texts.length === 1 ? 'has' : 'and the texts after it have';
  const error = `${subject} ${words} words, more than ${MAX_WORDS}; match=substring searches for a text as a whole`;
  return [{ text, error }];
}

/** Maximum of repetition(). A store may expand `a{100000000}` before its own limits apply. */
const MAX_REPETITION = 10_000;

/**
 * Upper bound for the size of a regular expression in which counted repetitions are expanded, in any syntax: brackets and
 * quotes, which stores interpret differently, are not parsed. The sum of all counts, times the counts of groups and of other
 * repetitions, which can be nested.
 */
function repetition(pattern: string): number {
  let [sum, product] = [0, 1];
  for (const [, before, least, most] of pattern.matchAll(/([)}]?)\{\s*(\d*)\s*,?\s*(\d*)/g)) {
    const count = Math.max(1, Number(least), Number(most));
    if (before === '') sum += count;
    else product *= count;
  }
  return pattern.length * Math.max(1, sum) * product;
}

function validateOpaqueValues(query: LogQuery, checks: ServerChecks): StatusCause[] {
  return (['cursor', 'context'] as const).flatMap((parameter) => {
    const value = query[parameter];
    const error = value === undefined ? undefined : checks[parameter]?.(value);
    return error === undefined ? [] : [invalidValue(parameter, error)];
  });
}

/**
 * Consoles send `interval`, `sort`, `from` and `size` with every operation: they are ignored where they have no
 * effect.
 */
function validateCombinations(query: LogQuery, { given, refused }: ParameterNames): StatusCause[] {
  const causes: StatusCause[] = [];
  const reject = (parameter: string, message: string): void => {
    if (given.has(parameter)) causes.push(invalidValue(parameter, message));
  };
  const { operation } = query;
  if (operation !== 'query') {
    const message = `is allowed with operation=query only, not with ${operation}`;
    reject('cursor', message);
    reject('context', message);
    if (query.follow) reject('follow', message);
  }
  if (operation !== 'export' && !refused.has('operation')) {
    reject('format', 'is allowed with operation=export only');
  }
  if (query.format !== 'csv' && !refused.has('format')) reject('bom', 'is allowed with format=csv only');
  if (operation === 'export' && query.highlight) {
    reject('highlight', 'is not allowed with operation=export');
  }
  if (given.has('cursor') && query.from > 0) {
    reject('from', 'is not allowed with cursor, which defines where the page begins');
  }
  if (given.has('context')) reject('cursor', 'is not allowed with context');
  else if (!refused.has('context')) {
    for (const name of ['before', 'after']) reject(name, 'is allowed with context only');
  }
  if (query.follow) {
    reject('end_time', 'is not allowed with follow, which ends when the caller disconnects');
    for (const name of ['cursor', 'context']) reject(name, 'is not allowed with follow');
    if (query.from > 0) reject('from', 'is not allowed with follow');
  }
  return causes;
}

const WORD = /[\p{L}\p{N}_]+/u;
const WORDS = /[\p{L}\p{N}_]+/gu;

/** Words of a text: runs of letters, digits and underscores. Stores may split lines into words by other rules. */
export function wordsOf(text: string): readonly string[] {
  return text.match(WORDS) ?? [];
}

export function hasWord(text: string): boolean {
  return WORD.test(text);
}

interface TextSearch {
  readonly mode: MatchMode;
  readonly texts: readonly string[];
}

/**
 * Splits `log_query` at commas in the modes that search for words. `prefix` without any word becomes `substring`:
 * consoles send whole lines, and some lines consist of punctuation.
 */
export function textSearchOf({ log_query: text, match }: Pick<LogQuery, 'log_query' | 'match'>): TextSearch {
  if (text === undefined) return { mode: match, texts: [] };
  if (match === 'substring' || match === 'regex') return { mode: match, texts: [text] };
  if (match === 'prefix' && !hasWord(text)) return { mode: 'substring', texts: [text] };
  return { mode: match, texts: text.split(',').filter((part) => part.trim() !== '') };
}
