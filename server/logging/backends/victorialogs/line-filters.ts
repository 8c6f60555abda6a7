// Builds LogsQL filters for the text (`log_query`) and the level (`level`) of log lines. Patterns use RE2 syntax, as
// in Go.
import type { Level } from '../../../../apis/logging/v1alpha2/log-query.ts';
import { hasWord } from '../../../../apis/logging/v1alpha2/log-query-validation.ts';
import { caseForms } from '../../matching/case-forms.ts';
import { allWords, KLOG_LETTERS, LEVEL_NUMBERS, LEVEL_WORDS, levelPatterns } from '../../matching/levels.ts';
import { PatternError, programSizeOf } from '../../matching/line-matcher.ts';
import type { TextFilter } from '../../store/log-store.ts';
import { newNotSupported } from '../../store/store-errors.ts';
import { allOf, anyOf, MESSAGE, matchesPattern, matchesWords } from './logsql.ts';
import { STORE } from './store-error.ts';

/**
 * Maximum instructions of a pattern. The store completes a block of up to 2 MiB of lines after the timeout of a query,
 * and a block takes up to 14 ms of a CPU for each instruction.
 */
const MAX_INSTRUCTIONS = 320;
/** Maximum characters of a case-insensitive substring, each of which is an instruction. */
const MAX_SUBSTRING_LENGTH = 300;

/** Returns the filter for `log_query`; undefined when no line can match. Throws NotSupported for an expensive pattern. */
export function textFilter(text: TextFilter): string | undefined {
  const { mode, texts, caseSensitive } = text;
  if (mode === 'phrase' || mode === 'prefix') {
    const words = texts.filter(hasWord);
    const prefix = mode === 'prefix';
    if (words.length === 0) return undefined;
    return anyOf(words.map((each) => matchesWords(MESSAGE, each, { prefix, caseSensitive })));
  }
  checkCost(text);
  const patterns = mode === 'regex' ? texts : texts.map(literal);
  const exact = matchesPattern(MESSAGE, `${caseSensitive ? '' : '(?i)'}(?:${patterns.join('|')})`);
  const hasPrefilter = mode === 'substring' && !caseSensitive && texts.every((each) => FILTERABLE.test(each));
  return hasPrefilter && texts.length <= MAX_PREFIXES ? allOf([containsPrefixOf(texts), exact]) : exact;
}

function checkCost(text: TextFilter): void {
  const reject = (problem: string, cause?: unknown): never => {
    throw newNotSupported(STORE, 'log_query', `${problem}; see docs/log-queries.md`, cause);
  };
  if (text.mode === 'substring') {
    const length = text.texts.reduce((sum, { length }) => sum + length, 0);
    if (text.caseSensitive || length <= MAX_SUBSTRING_LENGTH) return;
    reject(`with case=ignore, a substring can have ${MAX_SUBSTRING_LENGTH} characters; use case=respect`);
  }
  try {
    if (programSizeOf(text) <= MAX_INSTRUCTIONS) return;
  } catch (error) {
    if (error instanceof PatternError) reject(error.message, error);
    throw error;
  }
  reject('the regular expression repeats too much; use smaller counts');
}

/** Texts that a prefilter supports: they start with a letter and two printable ASCII characters. */
const FILTERABLE = /^[A-Za-z][ -~]{2}/;
/** A prefix has up to 27 variants: three letters with three forms each, such as K, k and the Kelvin sign. */
const MAX_PREFIXES = 3;
/** Number of characters of a text that its prefilter contains. */
const PREFIX_LENGTH = 3;

/**
 * Prefilter: matches lines that contain the start of one of the texts, in any case. VictoriaLogs searches for up to 100
 * literal alternatives as plain text, in less than half of the time of a case-insensitive pattern.
 */
function containsPrefixOf(texts: readonly string[]): string {
  const prefixes = new Set(texts.map((text) => text.slice(0, PREFIX_LENGTH)));
  return matchesPattern(MESSAGE, [...prefixes].flatMap(caseVariants).map(literal).join('|'));
}

/**
 * Returns all spellings of a text that differ only in case. Adjacent variants start with different characters, because Go's
 * parser factors out common prefixes, and VictoriaLogs then does not recognize literal alternatives.
 */
function caseVariants(text: string): string[] {
  const [first = [], ...others] = Array.from(text, caseForms);
  const ends = others.reduce<string[]>(
    (variants, forms) => variants.flatMap((variant) => forms.map((form) => `${variant}${form}`)),
    [''],
  );
  return ends.flatMap((end) => first.map((form) => `${form}${end}`));
}

/** Levels per prefilter. A prefilter for more levels would have more than 100 alternatives. */
const LEVELS_PER_FILTER = 2;

/** Returns the filter for `level`. `levels` has at least one element. */
export function levelFilter(levels: readonly Level[]): string {
  const groups = Array.from({ length: Math.ceil(levels.length / LEVELS_PER_FILTER) }, (_, index) =>
    levels.slice(index * LEVELS_PER_FILTER, (index + 1) * LEVELS_PER_FILTER),
  );
  return anyOf(groups.map(filterOfGroup));
}

/** Filter for up to LEVELS_PER_FILTER levels. The prefilter makes it three to five times as fast as the patterns alone. */
function filterOfGroup(levels: readonly Level[]): string {
  const letters = levels.map((level) => KLOG_LETTERS[level] ?? '').join('');
  const numbers = levels.flatMap((level) => LEVEL_NUMBERS[level]).map((number) => `"level":${number}`);
  return allOf([
    anyOf([
      containsPrefixOf(allWords(levels)),
      matchesPattern(MESSAGE, numbers.map(literal).join('|')),
      ...(letters === '' ? [] : [matchesPattern(MESSAGE, `^[${letters}][0-9]{4}`)]),
    ]),
    anyOf([
      matchesPattern(MESSAGE, commonForms(levels).map(literal).join('|')),
      ...levelPatterns(levels).map((pattern) => matchesPattern(MESSAGE, pattern)),
    ]),
  ]);
}

/** Returns the most common spellings of the levels. A line that contains one of them has the level. */
export function commonForms(levels: readonly Level[]): string[] {
  return levels
    .flatMap((level) => LEVEL_WORDS[level])
    .flatMap((word) => [` level=${word} `, `"level":"${word}"`, ` ${word.toUpperCase()} `]);
}

/** The RE2 pattern that matches the text itself. Control characters, punctuation and lone surrogates are written by code point. */
function literal(text: string): string {
  return text.replace(
    /[^0-9A-Za-z\u{a0}-\u{d7ff}\u{e000}-\u{10ffff}]/gu,
    (character) => `\\x{${character.charCodeAt(0).toString(16)}}`,
  );
}
