// The level that a line calls itself, for stores that do not keep it apart: a key of structured logs, the head of klog,
// or the level's name in capitals. A line may have several.
import { LEVELS, type Level } from '../../../apis/logging/v1alpha2/log-query.ts';

export const LEVEL_WORDS: Readonly<Record<Level, readonly string[]>> = {
  debug: ['debug', 'trace'],
  info: ['info', 'notice'],
  warn: ['warn', 'warning'],
  error: ['error', 'err'],
  fatal: ['fatal', 'critical', 'panic'],
};
export const LEVEL_KEYS = ['level', 'lvl', 'severity'] as const;
/** The letter at the very beginning of a klog line, before four digits. */
export const KLOG_LETTERS: Readonly<Partial<Record<Level, string>>> = {
  info: 'I',
  warn: 'W',
  error: 'E',
  fatal: 'F',
};

const LINE_BEGIN = '(?:^|[^0-9A-Za-z_])';
const LINE_END = '(?:[^0-9A-Za-z_]|$)';

/** One regular expression of RE2, and of JavaScript, that finds exactly the lines of one of the levels; case counts in it. */
export function levelPattern(levels: readonly Level[]): string {
  const wanted = LEVELS.filter((level) => levels.includes(level));
  const words = wanted.flatMap((level) => LEVEL_WORDS[level]);
  const letters = wanted.map((level) => KLOG_LETTERS[level] ?? '').join('');
  const keys = LEVEL_KEYS.map(anyCase).join('|');
  const values = words.map(anyCase).join('|');
  const names = words.map((word) => word.toUpperCase()).join('|');
  return [
    `(?:^|[^0-9A-Za-z])(?:${keys})["']?[ \\t]*[=:][ \\t]*["']?(?:${values})${LINE_END}`,
    ...(letters === '' ? [] : [`^[${letters}][0-9]{4}(?:[^0-9]|$)`]),
    `${LINE_BEGIN}(?:${names})${LINE_END}`,
  ].join('|');
}

/** The pattern is unambiguous everywhere, so that JavaScript's engine takes linear time too. */
export function levelMatcher(levels: readonly Level[]): (line: string) => boolean {
  const pattern = new RegExp(levelPattern(levels), 'u');
  return (line) => pattern.test(line);
}

/** RE2 has flags within a pattern, other engines do not. */
function anyCase(word: string): string {
  return Array.from(word, (letter) => `[${letter.toUpperCase()}${letter}]`).join('');
}
