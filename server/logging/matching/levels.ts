// Detection of log levels in the text of a line. A line can have several levels.
import { LEVELS, type Level, SEVERITIES, type Severity } from '../../../apis/logging/v1alpha2/log-query.ts';
import type { TimeSlices } from '../../concurrency/time-slicer.ts';

export const LEVEL_WORDS: Readonly<Record<Level, readonly string[]>> = {
  debug: ['debug', 'trace', 'dbg', 'trc'],
  info: ['info', 'notice', 'inf'],
  warn: ['warn', 'warning', 'wrn'],
  error: ['error', 'err', 'severe'],
  fatal: ['fatal', 'critical', 'panic', 'crit', 'ftl', 'alert', 'emerg'],
};
/** Words of four letters, in capitals or at the head of a line, as Go loggers and .NET print them. */
export const SHORT_WORDS: Readonly<Record<Level, readonly string[]>> = {
  debug: ['debu', 'trac', 'dbug', 'trce'],
  info: [],
  warn: [],
  error: ['erro', 'fail'],
  fatal: ['fata', 'pani'],
};
/** Numbers that Node loggers write in JSON. */
export const LEVEL_NUMBERS: Readonly<Record<Level, readonly number[]>> = {
  debug: [10, 20],
  info: [30],
  warn: [40],
  error: [50],
  fatal: [60],
};
export const LEVEL_KEYS = ['level', 'lvl', 'severity'] as const;
/** First letter of a klog line, before four digits. */
export const KLOG_LETTERS: Readonly<Partial<Record<Level, string>>> = {
  info: 'I',
  warn: 'W',
  error: 'E',
  fatal: 'F',
};

/** Terminal colour. Its last letter would otherwise be a part of the next word. */
const COLOUR = '\\x1b\\[[0-9;]*m';
const LINE_END = '(?:[^0-9A-Za-z_]|$)';

/**
 * Case-sensitive patterns for RE2 and JavaScript. A line has one of the levels if and only if one of them matches. A single
 * pattern would be so long that engines take their slowest path.
 */
export function levelPatterns(levels: readonly Level[]): string[] {
  // A level is the value of a key in a structured log, the first letter of a klog line, or a word: in capitals, in
  // brackets, or at the start of the line.
  const wanted = LEVELS.filter((level) => levels.includes(level));
  const words = wanted.flatMap((level) => LEVEL_WORDS[level]);
  const letters = wanted.map((level) => KLOG_LETTERS[level] ?? '').join('');
  const keys = LEVEL_KEYS.map(anyCase).join('|');
  const values = words.map(anyCase).join('|');
  const bracketed = words.map(title).join('|');
  const numbers = wanted.flatMap((level) => LEVEL_NUMBERS[level]).join('|');
  const names = allWords(wanted).join('|').toUpperCase();
  const heads = allWords(wanted).map(title).join('|');
  return [
    `(?:^|[^0-9A-Za-z]|${COLOUR})(?:${keys})["']?[ \\t]*[=:][ \\t]*["']?(?:${values})${LINE_END}`,
    `[{,]"level":(?:${numbers})(?:[^0-9]|$)`,
    ...(letters === '' ? [] : [`^[${letters}][0-9]{4}(?:[^0-9]|$)`]),
    `^(?:${COLOUR})*(?:${heads})(?:${COLOUR})*:(?:[ \\t]|$)`,
    `(?:^|[^0-9A-Za-z_]|${COLOUR})(?:${names})${LINE_END}`,
    `\\[(?:[a-z0-9_]+:)?(?:${bracketed})[ ]*\\]`,
  ];
}

/** Words in capitals, or at the head of a line. */
export function allWords(levels: readonly Level[]): string[] {
  return levels.flatMap((level) => [...LEVEL_WORDS[level], ...SHORT_WORDS[level]]);
}

/** The pattern is unambiguous, so that JavaScript's engine takes linear time. */
export function levelMatcher(levels: readonly Level[]): (line: string) => boolean {
  const pattern = new RegExp(levelPatterns(levels).join('|'), 'u');
  return (line) => pattern.test(line);
}

/** A line of 1 MiB takes some hundredths of a second for each level. */
const LONG_LINE = 4 << 10;

/** Returns the most severe level of a line, or `none`; a promise for a long line, which takes several time slices. */
export function severityMatcher(slices: TimeSlices): (line: string) => Severity | Promise<Severity> {
  const matchers = SEVERITY_LEVELS.map((level) => ({ level, matches: levelMatcher([level]) }));
  const ofLongLine = async (line: string): Promise<Severity> => {
    for (const { level, matches } of matchers) {
      if (slices.spent) await slices.next();
      if (matches(line)) return level;
    }
    return 'none';
  };
  return (line) =>
    line.length > LONG_LINE
      ? ofLongLine(line)
      : (matchers.find(({ matches }) => matches(line))?.level ?? 'none');
}

/** The levels, the most severe one first. */
export const SEVERITY_LEVELS = SEVERITIES.filter((each) => each !== 'none');

/** Case-insensitive without flags, which only RE2 supports within a pattern. */
export function anyCase(word: string): string {
  return Array.from(word, (letter) => `[${letter.toUpperCase()}${letter}]`).join('');
}

/** Lower case, with an optional capital at the beginning. */
export function title(word: string): string {
  return `[${word.slice(0, 1).toUpperCase()}${word.slice(0, 1)}]${word.slice(1)}`;
}

export function capitalized(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}
