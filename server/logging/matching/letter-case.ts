// Which characters are the same when case is ignored: simple case folding, as RE2 and JavaScript's flags `iu`
// have it, for which small letters will not do: ſ and ς are some.
// Lucene's own `case_insensitive` knows ASCII only, or, from Lucene 10 on, takes more for the same.
import { joined, type Range } from './code-ranges.ts';

/** Behind it there are no letters with case. */
const LAST = 0x1e943;

let cased: ReadonlyMap<number, readonly number[]> | undefined;
let first: ReadonlyMap<number, string> | undefined;

/** The other forms of each character that has some. */
function otherForms(): ReadonlyMap<number, readonly number[]> {
  cased ??= readForms();
  return cased;
}

/** Made when first needed, in some milliseconds. */
function readForms(): Map<number, number[]> {
  const candidates: string[] = [];
  for (let code = 0; code <= LAST; code++) {
    const character = String.fromCodePoint(code);
    if (character.toLowerCase() !== character || character.toUpperCase() !== character) {
      candidates.push(character);
    }
  }
  const all = candidates.join('');
  const forms = new Map<number, number[]>();
  for (const character of candidates) {
    const found = all.match(new RegExp(character, 'giu')) ?? [];
    const others = found.filter((other) => other !== character).map((other) => other.codePointAt(0) ?? 0);
    if (others.length > 0) forms.set(character.codePointAt(0) ?? 0, others);
  }
  return forms;
}

/** The character with all its other forms. */
export function foldedCharacter(code: number): Range[] {
  const codes = [code, ...(otherForms().get(code) ?? [])];
  return codes.toSorted((a, b) => a - b).map((form) => [form, form]);
}

/** The same for all texts that differ in case alone. */
export function folded(text: string): string {
  if (isASCII(text)) return text.toUpperCase();
  let all = '';
  for (const character of text) all += firstForms().get(character.codePointAt(0) ?? 0) ?? character;
  return all;
}

/** Of each character that is not the first one of its forms. */
function firstForms(): ReadonlyMap<number, string> {
  first ??= new Map(
    Array.from(otherForms())
      .filter(([code, others]) => others.some((other) => other < code))
      .map(([code, others]) => [code, String.fromCodePoint(Math.min(...others))]),
  );
  return first;
}

export function isASCII(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false;
  return true;
}

/** The ranges with all other forms of their members; ascending, with a gap between any two. */
export function foldedRanges(ranges: readonly Range[]): Range[] {
  const own = joined(ranges);
  const others: Range[] = [];
  let at = 0;
  // Letters and ranges both ascend, so each is looked at once.
  for (const [code, forms] of otherForms()) {
    while (isBehind(code, own[at])) at++;
    const [first, last] = own[at] ?? [];
    if (first === undefined || last === undefined) break;
    if (code < first) continue;
    for (const form of forms) if (form < first || form > last) others.push([form, form]);
  }
  return others.length === 0 ? own : joined([...own, ...others]);
}

function isBehind(code: number, range: Range | undefined): boolean {
  return range !== undefined && code > range[1];
}
