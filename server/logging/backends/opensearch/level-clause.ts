// Builder of the query clause for log levels, from the words in matching/levels.ts.
import { LEVELS, type Level } from '../../../../apis/logging/v1alpha2/log-query.ts';
import {
  allWords,
  anyCase,
  capitalized,
  KLOG_LETTERS,
  LEVEL_KEYS,
  LEVEL_NUMBERS,
  LEVEL_WORDS,
  title,
} from '../../matching/levels.ts';
import { allOf, anyOf, type Clause, regexp, wildcard } from './clauses.ts';

/** ANSI colour sequence. Its final letter `m` would be taken for the start of the following word. */
const COLOUR = '\u001b\\[[0-9;]*m';
const BEFORE_KEY = `(.*([^0-9A-Za-z]|${COLOUR}))?`;
const BEFORE = `(.*([^0-9A-Za-z_]|${COLOUR}))?`;
const BEHIND = '([^0-9A-Za-z_].*)?';
/** `max_determinized_states`: all levels together need some thousand more than the default. */
const MAX_STATES = 100_000;

/** Clause for lines with one of the levels. `wholeLine`: the `wildcard` field; `message`: the analysed field. */
export function levelClause(levels: readonly Level[], wholeLine: string, message: string): Clause {
  const wanted = LEVELS.filter((level) => levels.includes(level));
  return anyOf([named(wholeLine, wanted), ...klog(wholeLine, message, wanted), ...atHead(wholeLine, wanted)]);
}

/** Lines with a level key of a structured log, or with the level's name in capitals or in brackets. */
function named(field: string, levels: readonly Level[]): Clause {
  const words = levels.flatMap((level) => LEVEL_WORDS[level]);
  const all = allWords(levels);
  const numbers = levels.flatMap((level) => LEVEL_NUMBERS[level]);
  const value = [
    `${BEFORE_KEY}(${LEVEL_KEYS.map(anyCase).join('|')})["']?[ \t]*[=:][ \t]*["']?(${words.map(anyCase).join('|')})${BEHIND}`,
    `.*[{,]"level":(${numbers.join('|')})([^0-9].*)?`,
    `${BEFORE}(${all.join('|').toUpperCase()})${BEHIND}`,
    `.*\\[([a-z0-9_]+:)?(${words.map(title).join('|')})[ ]*\\].*`,
  ];
  // Only the shortest words are searched, because a line with WARNING also contains WARN.
  const shortest = all.filter((word) => !all.some((other) => other !== word && word.startsWith(other)));
  // The first clauses use the n-grams of the index to exclude most lines before the expensive pattern.
  return allOf([
    anyOf([
      ...shortest.map((word) => wildcard(field, word, true)),
      ...numbers.map((number) => wildcard(field, `"level":${number}`, false)),
    ]),
    regexp(field, value.join('|').replaceAll('"', '\\"'), { maxStates: MAX_STATES }),
  ]);
}

/** Lines that start with the level's name. Alternatives are literal, so that the n-grams apply. */
function atHead(field: string, levels: readonly Level[]): Clause[] {
  const words = allWords(levels).flatMap((word) => [word, capitalized(word)]);
  const plain = oneOf(words.map((word) => `${word}:`));
  const coloured = oneOf(words.map((word) => `${word}\u001b\\[`));
  return [
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
  // The search for words excludes most lines; the pattern then checks the start of the line.
  return [
    allOf([
      regexp(message, `[${letters.toLowerCase()}][0-9]{4}([^0-9].*)?`),
      regexp(field, `[${letters}][0-9]{4}([^0-9].*)?`),
    ]),
  ];
}
