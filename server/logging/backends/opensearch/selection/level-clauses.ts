// The level that a line calls itself, by the rules of matching/levels.ts, in Lucene's syntax.
import { LEVELS, type Level } from '../../../../../apis/logging/v1alpha2/log-query.ts';
import { KLOG_LETTERS, LEVEL_KEYS, LEVEL_WORDS } from '../../../matching/levels.ts';
import { allOf, anyOf, type Clause, regexp, wildcard } from '../requests/clause.ts';
import { type FieldMap, overFields } from '../requests/field-map.ts';
import { type TextClause, wildcardFields } from './text-clauses.ts';

const BEFORE_KEY = '(.*[^0-9A-Za-z])?';
const BEFORE = '(.*[^0-9A-Za-z_])?';
const BEHIND = '([^0-9A-Za-z_].*)?';

/** Throws NotSupported when the indices have no field for it. */
export function levelClause(levels: readonly Level[], fields: FieldMap): TextClause {
  const coverage = wildcardFields(fields, 'level');
  const wanted = LEVELS.filter((level) => levels.includes(level));
  const words = wanted.flatMap((level) => LEVEL_WORDS[level]);
  const clause = overFields(coverage, (field) =>
    anyOf([named(field, words), ...klog(field, wanted, fields.names.message)]),
  );
  return { clause, wildcard: coverage };
}

/** By a key of structured logs, or by the level's name in capitals. */
function named(field: string, words: readonly string[]): Clause {
  const value = [
    `${BEFORE_KEY}(${LEVEL_KEYS.map(anyCase).join('|')})["']?[ \t]*[=:][ \t]*["']?(${words.map(anyCase).join('|')})${BEHIND}`,
    `${BEFORE}(${words.map((word) => word.toUpperCase()).join('|')})${BEHIND}`,
  ];
  // The index excludes lines without any such word, before lines are read.
  return allOf([
    anyOf(words.map((word) => wildcard(field, word, true))),
    regexp(field, value.join('|').replaceAll('"', '\\"')),
  ]);
}

function klog(field: string, levels: readonly Level[], message: string): Clause[] {
  const letters = levels.map((level) => KLOG_LETTERS[level] ?? '').join('');
  if (letters === '') return [];
  // The index finds words that begin like the head; whether it is at the start of the line has to be read from the line.
  return [
    allOf([
      regexp(message, `[${letters.toLowerCase()}][0-9]{4}([^0-9].*)?`),
      regexp(field, `[${letters}][0-9]{4}([^0-9].*)?`),
    ]),
  ];
}

function anyCase(word: string): string {
  return Array.from(word, (letter) => `[${letter.toUpperCase()}${letter}]`).join('');
}
