// What a line has to say, told in the most obvious way: one regular expression of JavaScript for each word, text or
// pattern. Only for the patterns of tests: JavaScript's engine may take for ever for those of others.
import type { TextFilter } from '../../../../server/logging/log-store.ts';
import { words } from './words.ts';

export function saysOneOf({ mode, texts, caseSensitive }: TextFilter): (line: string) => boolean {
  const flags = caseSensitive ? 'u' : 'iu';
  const tests = texts.map((text) => {
    if (mode === 'substring') return contains(new RegExp(RegExp.escape(text), flags));
    if (mode === 'regex') return contains(new RegExp(javaScriptPattern(text), flags));
    return says(text, mode, flags);
  });
  return (line) => tests.some((test) => test(line));
}

function contains(pattern: RegExp): (line: string) => boolean {
  return (line) => pattern.test(line);
}

function says(text: string, mode: 'phrase' | 'prefix', flags: string): (line: string) => boolean {
  const asked = words(text);
  const tests = asked.map((word, index) => {
    const end = mode === 'prefix' && index === asked.length - 1 ? '' : '$';
    return new RegExp(`^${RegExp.escape(word)}${end}`, flags);
  });
  return (line) => {
    const found = words(line);
    return found.some(
      (_, begin) =>
        begin + tests.length <= found.length &&
        tests.every((test, index) => test.test(found[begin + index] ?? '')),
    );
  };
}

/** What differs between our dialect and JavaScript: `.` stops at newlines only, and `\s` and `\w` are of ASCII. */
const OURS: Readonly<Record<string, readonly [alone: string, inSet: string]>> = {
  '.': ['[^\\n]', '.'],
  '\\s': ['[\\t-\\r ]', '\\t-\\r '],
  '\\S': ['[^\\t-\\r ]', '\\S'],
  '\\w': ['[0-9A-Z_a-z]', '0-9A-Z_a-z'],
  '\\W': ['[^0-9A-Z_a-z]', '\\W'],
};

function javaScriptPattern(pattern: string): string {
  let inSet = false;
  const pieces = pattern.match(/\\[\s\S]|[\s\S]/gu) ?? [];
  return pieces
    .map((piece) => {
      if (piece === '[') inSet = true;
      if (piece === ']') inSet = false;
      if (/^\\[\p{P}\p{S}]$/u.test(piece)) return RegExp.escape(piece.slice(1));
      return OURS[piece]?.[inSet ? 1 : 0] ?? piece;
    })
    .join('');
}
