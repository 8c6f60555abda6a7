// The level that a line calls itself, by the rules of matching/levels.ts, in Lucene's syntax.
import { LEVELS, type Level } from '../../../../../apis/logging/v1alpha2/log-query.ts';
import {
  anyCase,
  CUT_WORDS,
  capitalized,
  KLOG_LETTERS,
  LEVEL_KEYS,
  LEVEL_NUMBERS,
  LEVEL_WORDS,
  priorities,
  title,
  wordsAtHead,
  wordsInCapitals,
} from '../../../matching/levels.ts';
import { type FieldMap, overFields } from '../fields/field-map.ts';
import { allOf, anyOf, type Clause, regexp, wildcard } from '../searches/clause.ts';
import { type TextClause, wildcardFields } from './text-clauses.ts';

/** Of terminals; its last letter would make one word of it and what follows. */
const COLOUR = '\u001b\\[[0-9;]*m';
const BEFORE_KEY = `(.*([^0-9A-Za-z]|${COLOUR}))?`;
const BEFORE = `(.*([^0-9A-Za-z_]|${COLOUR}))?`;
const BEHIND = '([^0-9A-Za-z_].*)?';
/** All levels together are one automaton of some thousand states. */
const WORK = 100_000;

/** Throws NotSupported when the indices have no field for it. */
export function levelClause(levels: readonly Level[], fields: FieldMap): TextClause {
  const coverage = wildcardFields(fields, 'level');
  const wanted = LEVELS.filter((level) => levels.includes(level));
  const clause = overFields(coverage, (field) =>
    anyOf([named(field, wanted), ...klog(field, wanted, fields), ...headed(field, wanted)]),
  );
  return { clause, byWords: false, wildcard: coverage };
}

/** By a key of structured logs, or by the level's name in capitals or in brackets. */
function named(field: string, levels: readonly Level[]): Clause {
  const words = levels.flatMap((level) => LEVEL_WORDS[level]);
  const numbers = levels.flatMap((level) => LEVEL_NUMBERS[level]);
  const value = [
    `${BEFORE_KEY}(${LEVEL_KEYS.map(anyCase).join('|')})["']?[ \t]*[=:][ \t]*["']?(${words.map(anyCase).join('|')})${BEHIND}`,
    `.*[{,]"level":(${numbers.join('|')})([^0-9].*)?`,
    `${BEFORE}(${wordsInCapitals(levels).join('|')})${BEHIND}`,
    `.*\\[([a-z0-9_]+:)?(${words.map(title).join('|')})[ ]*\\].*`,
  ];
  // What holds a longer word holds the one that it begins with.
  const all = [...words, ...levels.flatMap((level) => CUT_WORDS[level])];
  const short = all.filter((word) => !all.some((other) => other !== word && word.startsWith(other)));
  // The index excludes lines without any such word, before lines are read.
  return allOf([
    anyOf([
      ...short.map((word) => wildcard(field, word, true)),
      ...numbers.map((number) => wildcard(field, `"level":${number}`, false)),
    ]),
    regexp(field, value.join('|').replaceAll('"', '\\"'), { work: WORK }),
  ]);
}

/**
 * By what syslog puts first, or the level's name at the very beginning. Whole texts of three characters and more are written
 * out: the index knows these, and of a number or a word by itself it has to have every line read that might hold it.
 */
function headed(field: string, levels: readonly Level[]): Clause[] {
  const syslog = levels.map((level) => oneOf(priorities([level]).map((number) => `<${number}>`)));
  const words = wordsAtHead(levels).flatMap((word) => [word, capitalized(word)]);
  const plain = oneOf(words.map((word) => `${word}:`));
  const coloured = oneOf(words.map((word) => `${word}\u001b\\[`));
  return [
    ...syslog.map((heads) => regexp(field, `${heads}.*`)),
    regexp(field, `(${COLOUR})*${plain}([ \t].*)?`, { work: WORK }),
    regexp(field, `(${COLOUR})*${coloured}[0-9;]*m(${COLOUR})*:([ \t].*)?`, { work: WORK }),
  ];
}

function oneOf(alternatives: readonly string[]): string {
  return `(${alternatives.join('|')})`;
}

function klog(field: string, levels: readonly Level[], { names, words }: FieldMap): Clause[] {
  const letters = levels.map((level) => KLOG_LETTERS[level] ?? '').join('');
  if (letters === '') return [];
  // The index finds words that begin like the head; whether it is at the start of the line has to be read from the line.
  return [
    allOf([
      ...(words.missing.length === 0
        ? [regexp(names.message, `[${letters.toLowerCase()}][0-9]{4}([^0-9].*)?`)]
        : []),
      regexp(field, `[${letters}][0-9]{4}([^0-9].*)?`),
    ]),
  ];
}
