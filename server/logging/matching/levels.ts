// The level that a line calls itself, for stores that do not keep it apart: a key of structured logs, the head of klog,
// or the level's name in capitals or in brackets. A line may have several.
import { LEVELS, type Level } from '../../../apis/logging/v1alpha2/log-query.ts';

export const LEVEL_WORDS: Readonly<Record<Level, readonly string[]>> = {
  debug: ['debug', 'trace', 'dbg', 'trc'],
  info: ['info', 'notice', 'inf'],
  warn: ['warn', 'warning', 'wrn'],
  error: ['error', 'err', 'severe'],
  fatal: ['fatal', 'critical', 'panic', 'crit', 'ftl', 'alert', 'emerg'],
};
/** What loggers of Node write in JSON in place of a word. */
export const LEVEL_NUMBERS: Readonly<Record<Level, readonly number[]>> = {
  debug: [10, 20],
  info: [30],
  warn: [40],
  error: [50],
  fatal: [60],
};
export const LEVEL_KEYS = ['level', 'lvl', 'severity'] as const;
/** The letter at the very beginning of a klog line, before four digits. */
export const KLOG_LETTERS: Readonly<Partial<Record<Level, string>>> = {
  info: 'I',
  warn: 'W',
  error: 'E',
  fatal: 'F',
};

/** Of terminals; its last letter would make one word of it and what follows. */
const COLOUR = '\\x1b\\[[0-9;]*m';
const LINE_END = '(?:[^0-9A-Za-z_]|$)';

/** One regular expression of RE2, and of JavaScript, that finds exactly the lines of one of the levels; case counts in it. */
export function levelPattern(levels: readonly Level[]): string {
  const wanted = LEVELS.filter((level) => levels.includes(level));
  const words = wanted.flatMap((level) => LEVEL_WORDS[level]);
  const letters = wanted.map((level) => KLOG_LETTERS[level] ?? '').join('');
  const keys = LEVEL_KEYS.map(anyCase).join('|');
  const values = words.map(anyCase).join('|');
  const bracketed = words.map(title).join('|');
  const numbers = wanted.flatMap((level) => LEVEL_NUMBERS[level]).join('|');
  const names = words.map((word) => word.toUpperCase()).join('|');
  return [
    `(?:^|[^0-9A-Za-z]|${COLOUR})(?:${keys})["']?[ \\t]*[=:][ \\t]*["']?(?:${values})${LINE_END}`,
    `[{,]"level":(?:${numbers})(?:[^0-9]|$)`,
    ...(letters === '' ? [] : [`^[${letters}][0-9]{4}(?:[^0-9]|$)`]),
    `(?:^|[^0-9A-Za-z_]|${COLOUR})(?:${names})${LINE_END}`,
    `\\[(?:[a-z0-9_]+:)?(?:${bracketed})[ ]*\\]`,
  ].join('|');
}

/** The pattern is unambiguous everywhere, so that JavaScript's engine takes linear time too. */
export function levelMatcher(levels: readonly Level[]): (line: string) => boolean {
  const pattern = new RegExp(levelPattern(levels), 'u');
  return (line) => pattern.test(line);
}

/** RE2 has flags within a pattern, other engines do not. */
export function anyCase(word: string): string {
  return Array.from(word, (letter) => `[${letter.toUpperCase()}${letter}]`).join('');
}

/** In small letters, the first of which may be a capital. */
export function title(word: string): string {
  return `[${word.slice(0, 1).toUpperCase()}${word.slice(0, 1)}]${word.slice(1)}`;
}
