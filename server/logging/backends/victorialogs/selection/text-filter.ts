// What lines have to say. The meaning is one regular expression, which the store's engine tries on every line it is
// given; so a cheap look for what the line holds in any case goes first (required-text.ts), and where words are looked
// for, one for what is enough in nearly all lines (evidence.ts).

import type { Level } from '../../../../../apis/logging/v1alpha2/log-query.ts';
import { wordsOf } from '../../../../../apis/logging/v1alpha2/text-search.ts';
import type { TextFilter } from '../../../log-store.ts';
import {
  CUT_WORDS,
  HEAD_WORDS,
  KLOG_LETTERS,
  LEVEL_NUMBERS,
  LEVEL_WORDS,
  levelPatterns,
} from '../../../matching/levels.ts';
import { linePattern } from '../../../matching/line-pattern.ts';
import { literal } from '../../../matching/re2.ts';
import { type Evidence, evidenceOf } from './evidence.ts';
import { allOf, eitherOf, matches } from './logsql.ts';
import { anyOf, requiredFilter } from './required-text.ts';

export interface LineFilter {
  /** Filters all of which hold for exactly the lines wanted. */
  readonly exact: readonly string[];
  /** Where these cost the store much: cheaper ones for all lines wanted, and some others. */
  readonly quick?: {
    readonly filters: readonly string[];
    /** Among the lines that are found, those that are wanted for sure; the others have to be looked at. */
    readonly sure: string;
  };
}

export function textFilter(message: string, text: TextFilter): LineFilter {
  const required = requiredFilter(message, text) ?? [];
  const exact = [required, matches(message, undisguised(linePattern(text)))].flat();
  if (text.mode !== 'phrase' && text.mode !== 'prefix') return { exact };
  const evidence = text.texts.flatMap(
    (each) => evidenceOf(wordsOf(each), text.mode === 'prefix', text.caseSensitive) ?? [],
  );
  const notASCII = matches(message, '[^\\x{0}-\\x{7f}]');
  if (evidence.length > 0) {
    const evident = sureFilter(message, evidence);
    const filters = [required, `(${evident} or ${notASCII})`].flat();
    // ASCII lines are found exactly when they are wanted. The filter has to say so: within pipes no pattern ever matches a
    // column of whole numbers, not even the one that found the line.
    return { exact, quick: { filters, sure: `(${evident} or !${notASCII})` } };
  }
  // Lines of ASCII cannot hold what is not; for others nothing but the rough look tells which.
  if (required.length === 0) return { exact };
  return { exact, quick: { filters: [required, notASCII].flat(), sure: `!${notASCII}` } };
}

/** The pattern is tried on what is left when the plain texts have been looked for. */
function sureFilter(message: string, evidence: readonly Evidence[]): string {
  const plain = evidence.map((each) => matches(message, each.plain.map(literal).join('|')));
  return eitherOf([...plain, matches(message, evidence.map(({ pattern }) => pattern).join('|'))]);
}

/** Levels whose words make one pattern: of more than a hundred texts, the store takes its slowest way. */
const LEVELS_AT_ONCE = 2;

export function levelFilter(message: string, levels: readonly Level[]): LineFilter {
  const parts = Array.from({ length: Math.ceil(levels.length / LEVELS_AT_ONCE) }, (_, n) =>
    allOf(oneOfLevels(message, levels.slice(n * LEVELS_AT_ONCE, (n + 1) * LEVELS_AT_ONCE))),
  );
  return { exact: [eitherOf(parts)] };
}

function oneOfLevels(message: string, levels: readonly Level[]): string[] {
  const letters = levels.map((level) => KLOG_LETTERS[level] ?? '').join('');
  const klog = letters === '' ? [] : [`[${letters}][0-9]{4}`];
  const heads = matches(message, `^(?:${[...klog, '<[0-9]{1,3}>'].join('|')})`);
  const words = anyOf(
    message,
    levels.flatMap((level) => [...LEVEL_WORDS[level], ...CUT_WORDS[level], ...HEAD_WORDS[level]]),
  );
  const numbers = matches(
    message,
    levels
      .flatMap((level) => LEVEL_NUMBERS[level])
      .map((number) => literal(`"level":${number}`))
      .join('|'),
  );
  const plain = matches(message, levelTexts(levels).map(literal).join('|'));
  return [
    eitherOf([words, numbers, heads]),
    eitherOf([plain, ...levelPatterns(levels).map((pattern) => matches(message, pattern))]),
  ];
}

/** Texts one of which most lines of the levels have, and no other line. */
export function levelTexts(levels: readonly Level[]): string[] {
  return levels
    .flatMap((level) => LEVEL_WORDS[level])
    .flatMap((word) => [` level=${word} `, `"level":"${word}"`, ` ${word.toUpperCase()} `]);
}

/** Never found. */
const NEVER = '\\z.';

/**
 * The store has short cuts for patterns with `.*` and `.+` that look at the first place only, and let `.` be a newline.
 * None of them is taken for a pattern with an alternative like this one.
 */
function undisguised(pattern: string): string {
  return pattern.includes('.') ? `${pattern}|${NEVER}` : pattern;
}
