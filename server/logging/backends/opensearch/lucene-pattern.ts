// Literal text in Lucene's regular expressions, which must match the whole value.
import { caseForms } from '../../matching/case-forms.ts';

interface LucenePattern {
  readonly value: string;
  /** Value of `case_insensitive`. */
  readonly ignoreCase: boolean;
}

/**
 * Case folding: none, by the engine (`case_insensitive`, for ASCII letters), or written into the pattern as character
 * classes. The engine can use its index.
 */
type Folding = 'none' | 'engine' | 'written';

/** Pattern of values that contain the text. */
export function literalSomewhere(text: string, caseSensitive: boolean): LucenePattern {
  const printed = (folding: Folding): string => `.*${literal(text, folding)}.*`;
  if (caseSensitive) return { value: printed('none'), ignoreCase: false };
  const value = printed('engine');
  // Lucene 10 treats ı and İ as i.
  return /[\u0130\u0131]/.test(value)
    ? { value: printed('written'), ignoreCase: false }
    : { value, ignoreCase: true };
}

/** Pattern of the text itself. */
export function literal(text: string, folding: Folding = 'none'): string {
  return Array.from(text, (letter) => printCharacter(letter, folding)).join('');
}

function printCharacter(character: string, folding: Folding): string {
  const isASCII = (character.codePointAt(0) ?? 0) < 0x80;
  if (folding === 'none' || (folding === 'engine' && isASCII)) return escaped(character);
  const forms = caseForms(character);
  return forms.length === 1 ? escaped(character) : `[${forms.map(escaped).join('')}]`;
}

function escaped(character: string): string {
  // As an alternative, because OpenSearch looks up wrong n-grams for a plain escaped backslash in a `wildcard` field.
  if (character === '\\') return '(\\\\|\\\\)';
  // Letters and digits are not escaped, because an escape changes their meaning.
  return /^[!-~]$/.test(character) && !/[0-9A-Za-z]/.test(character) ? `\\${character}` : character;
}
