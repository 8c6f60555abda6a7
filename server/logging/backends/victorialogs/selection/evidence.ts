// Proves that words are in a line: only ASCII, or an end of the line, is next to them. It finds all ASCII lines with the
// words, and some of the others; the rest takes the pattern of matching/line-pattern.ts, which knows all letters and is a
// hundred times as long.
import { hasWord } from '../../../../../apis/logging/v1alpha2/text-search.ts';
import { literal } from '../../../matching/re2.ts';
import { formsOf } from './required-text.ts';

export interface Evidence {
  /** Texts one of which most lines have, one at least; the store finds them far sooner than what the pattern finds. */
  readonly plain: readonly string[];
  /** RE2, for all of it. */
  readonly pattern: string;
}

/** `words`: as split by matching/; `goesOn`: the last one may be a prefix. Undefined where no proof is possible. */
export function evidenceOf(
  words: readonly string[],
  goesOn: boolean,
  caseSensitive: boolean,
): Evidence | undefined {
  if (words.length === 0) return undefined;
  return { plain: plainTexts(words, goesOn, caseSensitive), pattern: pattern(words, goesOn, caseSensitive) };
}

const BEFORE = [' ', '"'];
const BEHIND = [' ', '"', ')'];

/** Neighbours begin with different characters: for alternatives that do not, the store has no short cut. */
function plainTexts(words: readonly string[], goesOn: boolean, caseSensitive: boolean): string[] {
  const said = words.join(' ');
  const small = said.toLowerCase();
  const [first = ''] = small;
  // The text as given too: the lower case of İ is a different letter, and the upper case of that is yet another one.
  const forms = [small, small.toUpperCase(), `${first.toUpperCase()}${small.slice(first.length)}`, said];
  const isSaid = new RegExp(`^${said}$`, 'iu');
  const own = caseSensitive ? [said] : [...new Set(forms)].filter((form) => isSaid.test(form));
  return (goesOn ? [''] : BEHIND).flatMap((behind) =>
    own.flatMap((form) => BEFORE.map((before) => `${before}${form}${behind}`)),
  );
}

function pattern(words: readonly string[], goesOn: boolean, caseSensitive: boolean): string {
  const each = words.map((word) => (caseSensitive ? literal(word) : inAnyCase(word)));
  return `(?:^|${SEPARATOR})${each.join(`${SEPARATOR}+`)}${goesOn ? '' : `(?:$|${SEPARATOR})`}`;
}

function inAnyCase(word: string): string {
  return Array.from(word, (character) => {
    // A combining mark is among the forms of ι, and is in no word.
    const forms = formsOf(character).filter(hasWord);
    return forms.length > 1 ? `[${forms.join('')}]` : literal(character);
  }).join('');
}

/** ASCII characters that are in no word. */
const SEPARATOR = '[\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{5e}\\x{60}\\x{7b}-\\x{7f}]';
