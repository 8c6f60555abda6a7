// The levels that a line tells, as docs/logs.md says it.
import { LEVELS, type Level } from '../../../../apis/logging/v1alpha2/log-query.ts';

const WORDS: Readonly<Record<Level, readonly string[]>> = {
  debug: ['debug', 'trace'],
  info: ['info', 'notice'],
  warn: ['warn', 'warning'],
  error: ['error', 'err'],
  fatal: ['fatal', 'critical', 'panic'],
};
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
      ...(head === undefined ? [] : [new RegExp(`^${head}[0-9]{4}(?![0-9])`)]),
    ],
  ];
});

export function levelsOf(line: string): Level[] {
  return tests
    .filter(([, patterns]) => patterns.some((pattern) => pattern.test(line)))
    .map(([level]) => level);
}
