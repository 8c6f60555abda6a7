// The levels that a line tells, as docs/logs.md says it.
import { LEVELS, type Level } from '../../../../apis/logging/v1alpha2/log-query.ts';

const WORDS: Readonly<Record<Level, readonly string[]>> = {
  debug: ['debug', 'trace', 'dbg', 'trc'],
  info: ['info', 'notice', 'inf'],
  warn: ['warn', 'warning', 'wrn'],
  error: ['error', 'err', 'severe'],
  fatal: ['fatal', 'critical', 'panic', 'crit', 'ftl', 'alert', 'emerg'],
};
const NUMBERS: Readonly<Record<Level, string>> = {
  debug: '10|20',
  info: '30',
  warn: '40',
  error: '50',
  fatal: '60',
};
/** What stands in brackets, alone or behind the name of a module. */
const BRACKETED = /\[(?:[a-z0-9_]+:)?([A-Za-z][a-z]*) *\]/g;
const ESCAPE = '\u001b';
const COLOURS = new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g');
const KLOG: Readonly<Partial<Record<Level, string>>> = { info: 'I', warn: 'W', error: 'E', fatal: 'F' };

const tests = LEVELS.map((level): [Level, readonly RegExp[]] => {
  const words = WORDS[level].join('|');
  const head = KLOG[level];
  return [
    level,
    [
      new RegExp(
        `(?<![0-9A-Za-z])(?:level|lvl|severity)["']?[ \\t]*[=:][ \\t]*["']?(?:${words})(?![0-9A-Za-z_])`,
        'i',
      ),
      new RegExp(`(?<![0-9A-Za-z_])(?:${words.toUpperCase()})(?![0-9A-Za-z_])`),
      new RegExp(`[{,]"level":(?:${NUMBERS[level]})(?!\\d)`),
      ...(head === undefined ? [] : [new RegExp(`^${head}[0-9]{4}(?![0-9])`)]),
    ],
  ];
});

export function levelsOf(line: string): Level[] {
  // A colour separates, whatever its last letter is.
  const forms = [line, line.replace(COLOURS, ESCAPE)];
  const bracketed = Array.from(line.matchAll(BRACKETED), ([, word = '']) => word.toLowerCase());
  return tests
    .filter(
      ([level, patterns]) =>
        forms.some((form) => patterns.some((pattern) => pattern.test(form))) ||
        bracketed.some((word) => WORDS[level].includes(word)),
    )
    .map(([level]) => level);
}
