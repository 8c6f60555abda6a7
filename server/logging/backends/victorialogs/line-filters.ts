// Filters on the text of a line: `log_query` and `level`. Words are those of LogsQL; patterns are RE2, which VictoriaLogs
// evaluates with the regular expressions of Go.
import type { Level } from '../../../../apis/logging/v1alpha2/log-query.ts';
import { hasWord } from '../../../../apis/logging/v1alpha2/log-query-validation.ts';
import type { TextFilter } from '../../log-store.ts';
import { foldedCharacter } from '../../matching/character-ranges.ts';
import {
  CUT_WORDS,
  HEAD_WORDS,
  KLOG_LETTERS,
  LEVEL_NUMBERS,
  LEVEL_WORDS,
  levelPatterns,
} from '../../matching/levels.ts';
import { linePattern, literal } from '../../matching/re2.ts';
import { allOf, anyOf, matchesPattern, matchesWords } from './logsql.ts';

/** Undefined when no line can match. */
export function textFilter(message: string, text: TextFilter): string | undefined {
  const { mode, texts, caseSensitive } = text;
  if (mode === 'phrase' || mode === 'prefix') {
    const words = texts.filter(hasWord);
    const prefix = mode === 'prefix';
    if (words.length === 0) return undefined;
    return anyOf(words.map((each) => matchesWords(message, each, { prefix, caseSensitive })));
  }
  const exact = matchesPattern(message, withoutShortcuts(linePattern({ mode, texts, caseSensitive })));
  const hasPrefilter = mode === 'substring' && !caseSensitive && texts.every((each) => FILTERABLE.test(each));
  return hasPrefilter && texts.length <= MAX_PREFIXES
    ? allOf([containsPrefixOf(message, texts), exact])
    : exact;
}

/** The start of a text that a prefilter can look for. */
const FILTERABLE = /^[A-Za-z][ -~]{2}/;
/** A prefix has up to 27 variants: three letters with three forms each, such as K, k and the Kelvin sign. */
const MAX_PREFIXES = 3;
/** Characters of a text in a prefilter. */
const PREFIX_LENGTH = 3;

/**
 * Prefilter: matches the lines with the start of one of the texts, in any case. VictoriaLogs looks for up to 100 literal
 * alternatives as plain text, which takes less than half of the time of a pattern that ignores case.
 */
function containsPrefixOf(message: string, texts: readonly string[]): string {
  const prefixes = new Set(texts.map((text) => text.slice(0, PREFIX_LENGTH)));
  return matchesPattern(message, [...prefixes].flatMap(caseVariants).map(literal).join('|'));
}

/**
 * Neighbours start with different characters: the parser of Go factors out common prefixes, and VictoriaLogs then no
 * longer sees literal alternatives.
 */
function caseVariants(text: string): string[] {
  const [first = [], ...others] = Array.from(text, (character) =>
    foldedCharacter(character.codePointAt(0) ?? 0).map(([code]) => String.fromCodePoint(code)),
  );
  const ends = others.reduce<string[]>(
    (variants, forms) => variants.flatMap((variant) => forms.map((form) => `${variant}${form}`)),
    [''],
  );
  return ends.flatMap((end) => first.map((form) => `${form}${end}`));
}

/** Levels in one prefilter: with more of them it has more than 100 alternatives. */
const LEVELS_PER_FILTER = 2;

/** `levels`: at least one. */
export function levelFilter(message: string, levels: readonly Level[]): string {
  const groups = Array.from({ length: Math.ceil(levels.length / LEVELS_PER_FILTER) }, (_, index) =>
    levels.slice(index * LEVELS_PER_FILTER, (index + 1) * LEVELS_PER_FILTER),
  );
  return anyOf(groups.map((group) => filterOfGroup(message, group)));
}

/** The prefilter makes it three to five times as fast as the patterns alone. */
function filterOfGroup(message: string, levels: readonly Level[]): string {
  const letters = levels.map((level) => KLOG_LETTERS[level] ?? '').join('');
  const heads = [...(letters === '' ? [] : [`[${letters}][0-9]{4}`]), '<[0-9]{1,3}>'];
  const words = levels.flatMap((level) => [...LEVEL_WORDS[level], ...CUT_WORDS[level], ...HEAD_WORDS[level]]);
  const numbers = levels.flatMap((level) => LEVEL_NUMBERS[level]).map((number) => `"level":${number}`);
  return allOf([
    anyOf([
      containsPrefixOf(message, words),
      matchesPattern(message, numbers.map(literal).join('|')),
      matchesPattern(message, `^(?:${heads.join('|')})`),
    ]),
    anyOf([
      matchesPattern(message, commonForms(levels).map(literal).join('|')),
      ...levelPatterns(levels).map((pattern) => matchesPattern(message, pattern)),
    ]),
  ]);
}

/** Texts of the most common forms of the levels. Each is sufficient for the level. */
export function commonForms(levels: readonly Level[]): string[] {
  return levels
    .flatMap((level) => LEVEL_WORDS[level])
    .flatMap((word) => [` level=${word} `, `"level":"${word}"`, ` ${word.toUpperCase()} `]);
}

/** A pattern that matches no text. */
const NEVER = '\\z.';

/**
 * VictoriaLogs has shortcuts for patterns with `.*` and `.+`, which look at the first place only and let `.` match a
 * newline. It does not take them for a pattern with such an alternative.
 */
function withoutShortcuts(pattern: string): string {
  return pattern.includes('.') ? `${pattern}|${NEVER}` : pattern;
}
