// Sets of characters as ranges of code points, with simple Unicode case folding.

/** First and last code point, inclusive. */
export type Range = readonly [first: number, last: number];

const MAX_CODE = 0x10ffff;
export const ALL_CODES: Range = [0, MAX_CODE];
/** No letter with case has a higher code point. */
const LAST_CASED = 0x1e943;

/** Merges ranges. The result is ascending, with a gap between any two ranges. */
export function union(ranges: readonly Range[]): Range[] {
  const merged: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const previous = merged.at(-1);
    if (previous && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

/** Ranges of all other characters. `ranges` are ascending and do not overlap. */
export function complement(ranges: readonly Range[]): Range[] {
  const ends = [-1, ...ranges.map(([, last]) => last)];
  const begins = [...ranges.map(([first]) => first), MAX_CODE + 1];
  return ends
    .map((end, index): Range => [end + 1, (begins[index] ?? 0) - 1])
    .filter(([first, last]) => first <= last);
}

let cased: ReadonlyMap<number, readonly number[]> | undefined;

/** Other case forms by character, in ascending order of code points. Computed once, in milliseconds. */
function otherForms(): ReadonlyMap<number, readonly number[]> {
  cased ??= readForms();
  return cased;
}

/**
 * Simple case folding, as in RE2 and JavaScript (flags `iu`). Unlike lower-casing, it folds ſ and ς to s and σ.
 * Lucene's `case_insensitive` uses another folding in each version.
 */
function readForms(): Map<number, number[]> {
  const candidates: string[] = [];
  for (let code = 0; code <= LAST_CASED; code++) {
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

/** The character with all its case forms. */
export function foldedCharacter(code: number): Range[] {
  const codes = [code, ...(otherForms().get(code) ?? [])];
  return codes.toSorted((a, b) => a - b).map((form) => [form, form]);
}

/** The ranges with all case forms of their characters; ascending, with a gap between any two ranges. */
export function foldedRanges(ranges: readonly Range[]): Range[] {
  const own = union(ranges);
  const others: Range[] = [];
  let at = 0;
  // Letters and ranges both ascend, so each is visited once.
  for (const [code, forms] of otherForms()) {
    while (code > (own[at]?.[1] ?? Number.POSITIVE_INFINITY)) at++;
    const [first, last] = own[at] ?? [];
    if (first === undefined || last === undefined) break;
    if (code < first) continue;
    for (const form of forms) if (form < first || form > last) others.push([form, form]);
  }
  return others.length === 0 ? own : union([...own, ...others]);
}
