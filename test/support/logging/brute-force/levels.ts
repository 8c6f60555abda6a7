// Reference implementation of log level detection, as documented in docs/log-queries.md.
import { LEVELS, type Level } from '../../../../apis/logging/v1alpha2/log-query.ts';

const WORDS: Readonly<Record<Level, readonly string[]>> = {
  debug: ['debug', 'trace', 'dbg', 'trc'],
  info: ['info', 'notice', 'inf'],
  warn: ['warn', 'warning', 'wrn'],
  error: ['error', 'err', 'severe'],
  fatal: ['fatal', 'critical', 'panic', 'crit', 'ftl', 'alert', 'emerg'],
};
const SHORT = new Map<string, Level>([
  ['debu', 'debug'],
  ['trac', 'debug'],
  ['dbug', 'debug'],
  ['trce', 'debug'],
  ['erro', 'error'],
  ['fail', 'error'],
  ['fata', 'fatal'],
  ['pani', 'fatal'],
]);
const NUMBERS: Readonly<Record<Level, string>> = {
  debug: '10|20',
  info: '30',
  warn: '40',
  error: '50',
  fatal: '60',
};
/** A word in brackets, alone or after the name of a module. */
const BRACKETED = /\[(?:[a-z0-9_]+:)?([A-Za-z][a-z]*) *\]/g;
const ESCAPE = '\u001b';
const COLOURS = new RegExp(`${ESCAPE}\\[[0-9;]*m`, 'g');
/** Colours around the first word. */
const LEADING = new RegExp(`^(?:${ESCAPE}\\[[0-9;]*m)*([A-Za-z]+)(?:${ESCAPE}\\[[0-9;]*m)*(?=:)`);
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

/** The level at the head of the line. */
function levelAtHead(line: string): string | undefined {
  const [, first = '', rest = ''] = /^([A-Za-z])([a-z]*):(?:[ \t]|$)/.exec(line.replace(LEADING, '$1')) ?? [];
  const word = first.toLowerCase() + rest;
  return SHORT.get(word) ?? LEVELS.find((level) => WORDS[level].includes(word));
}

export function levelsOf(line: string): Level[] {
  const atHead = levelAtHead(line);
  // A colour separates words, although it ends with a letter.
  const forms = [line, line.replace(COLOURS, ESCAPE)];
  const short = new Set(
    forms
      .flatMap((form) => form.match(/(?<![0-9A-Za-z_])[A-Z]{4}(?![0-9A-Za-z_])/g) ?? [])
      .map((word) => SHORT.get(word.toLowerCase())),
  );
  const bracketed = Array.from(line.matchAll(BRACKETED), ([, word = '']) => word.toLowerCase());
  return tests
    .filter(
      ([level, patterns]) =>
        level === atHead ||
        short.has(level) ||
        forms.some((form) => patterns.some((pattern) => pattern.test(form))) ||
        bracketed.some((word) => WORDS[level].includes(word)),
    )
    .map(([level]) => level);
}
