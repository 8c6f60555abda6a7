// Texts that a line has to hold for a word or a pattern to be found in it.
import { type Item, parsePattern } from '../../matching/regex-dialect.ts';

/**
 * The longest runs of characters that the store can look for; of each text one or none. When case is ignored these are
 * the ones whose small letter is the same whatever letter the line has in their place.
 */
export function runsIn(text: string, caseSensitive: boolean): string[] {
  return longestOf(
    Array.from(text, (character) => (caseSensitive || isSafe(character) ? character : undefined)),
  );
}

/** The longest run of plain characters of the pattern, where there is no alternative to it. */
export function requiredOf(pattern: string, caseSensitive: boolean): string[] {
  const [only, ...more] = parsePattern(pattern).branches;
  if (!only || more.length > 0) return [];
  return longestOf(only.items.map((item) => plain(item, caseSensitive))).filter((run) => run.length > 1);
}

function plain(item: Item, caseSensitive: boolean): string | undefined {
  if (item.kind !== 'character' || (item.code >= 0xd800 && item.code <= 0xdfff)) return undefined;
  const character = String.fromCodePoint(item.code);
  return caseSensitive || isSafe(character) ? character : undefined;
}

/** Letters of ASCII (of which the caller minds s), those of Western Europe, and whatever has no case. */
function isSafe(character: string): boolean {
  if (character < '\u0080') return character !== '\0';
  return (
    /[\u00c0-\u00ff]/u.test(character) || !/[\p{Cased}\p{Changes_When_Casefolded}\p{M}]/u.test(character)
  );
}

/** Of what stands between the gaps. */
function longestOf(characters: readonly (string | undefined)[]): string[] {
  const runs = [''];
  for (const character of characters) {
    if (character === undefined) runs.push('');
    else runs[runs.length - 1] += character;
  }
  const [longest = ''] = runs.toSorted((left, right) => right.length - left.length);
  return longest === '' ? [] : [longest];
}
