// Clause for the level that a line names, as matching/levels.ts defines it, in Lucene's syntax.
import { LEVELS, type Level } from '../../../../apis/logging/v1alpha2/log-query.ts';
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
} from '../../matching/levels.ts';
import { allOf, anyOf, type Clause, regexp, wildcard } from './clause.ts';

/** A terminal colour. Its last letter would join the word that follows. */
const COLOUR = '\u001b\\[[0-9;]*m';
const BEFORE_KEY = `(.*([^0-9A-Za-z]|${COLOUR}))?`;
const BEFORE = `(.*([^0-9A-Za-z_]|${COLOUR}))?`;
const BEHIND = '([^0-9A-Za-z_].*)?';
/** All levels together need some thousand states more than the default. */
const MAX_STATES = 100_000;

/** `wholeLine`: the field with whole lines; `message`: the analysed field. */
export function levelClause(levels: readonly Level[], wholeLine: string, message: string): Clause {
  const wanted = LEVELS.filter((level) => levels.includes(level));
  return anyOf([named(wholeLine, wanted), ...klog(wholeLine, message, wanted), ...atHead(wholeLine, wanted)]);
}

/** A key of a structured log, or the level's name in capitals or in brackets. */
function named(field: string, levels: readonly Level[]): Clause {
  const words = levels.flatMap((level) => LEVEL_WORDS[level]);
  const numbers = levels.flatMap((level) => LEVEL_NUMBERS[level]);
  const value = [
    `${BEFORE_KEY}(${LEVEL_KEYS.map(anyCase).join('|')})["']?[ \t]*[=:][ \t]*["']?(${words.map(anyCase).join('|')})${BEHIND}`,
    `.*[{,]"level":(${numbers.join('|')})([^0-9].*)?`,
    `${BEFORE}(${wordsInCapitals(levels).join('|')})${BEHIND}`,
    `.*\\[([a-z0-9_]+:)?(${words.map(title).join('|')})[ ]*\\].*`,
  ];
  // A line with a longer word also contains the shorter word that it begins with.
  const all = [...words, ...levels.flatMap((level) => CUT_WORDS[level])];
  const shortest = all.filter((word) => !all.some((other) => other !== word && word.startsWith(other)));
  // The n-grams of the index rule out most lines before the pattern reads them.
  return allOf([
    anyOf([
      ...shortest.map((word) => wildcard(field, word, true)),
      ...numbers.map((number) => wildcard(field, `"level":${number}`, false)),
    ]),
    regexp(field, value.join('|').replaceAll('"', '\\"'), { maxStates: MAX_STATES }),
  ]);
}

/** A syslog priority, or the level's name at the head of the line. Written out, because the n-grams need literal text. */
function atHead(field: string, levels: readonly Level[]): Clause[] {
  const syslog = levels.map((level) => oneOf(priorities([level]).map((number) => `<${number}>`)));
  const words = wordsAtHead(levels).flatMap((word) => [word, capitalized(word)]);
  const plain = oneOf(words.map((word) => `${word}:`));
  const coloured = oneOf(words.map((word) => `${word}\u001b\\[`));
  return [
    ...syslog.map((heads) => regexp(field, `${heads}.*`)),
    regexp(field, `(${COLOUR})*${plain}([ \t].*)?`, { maxStates: MAX_STATES }),
    regexp(field, `(${COLOUR})*${coloured}[0-9;]*m(${COLOUR})*:([ \t].*)?`, { maxStates: MAX_STATES }),
  ];
}

function oneOf(alternatives: readonly string[]): string {
  return `(${alternatives.join('|')})`;
}

function klog(field: string, message: string, levels: readonly Level[]): Clause[] {
  const letters = levels.map((level) => KLOG_LETTERS[level] ?? '').join('');
  if (letters === '') return [];
  // The words of the line rule out most lines; the pattern checks that the head is at the start.
  return [
    allOf([
      regexp(message, `[${letters.toLowerCase()}][0-9]{4}([^0-9].*)?`),
      regexp(field, `[${letters}][0-9]{4}([^0-9].*)?`),
    ]),
  ];
}
