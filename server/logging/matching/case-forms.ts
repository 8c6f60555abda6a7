// Case forms of characters by simple Unicode case folding, as in RE2 and JavaScript (flags `iu`).

/** No letter with case has a higher code point. */
const LAST_CASED = 0x1e943;

let others: ReadonlyMap<string, readonly string[]> | undefined;

/** Returns the character and its other case forms, in ascending order of code points: `k` has `K`, `k` and the Kelvin sign. */
export function caseForms(character: string): readonly string[] {
  others ??= readForms();
  const forms = [character, ...(others.get(character) ?? [])];
  return forms.toSorted((one, other) => (one.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0));
}

/**
 * Unlike lower-casing, folding maps ſ and ς to s and σ. Lucene's `case_insensitive` uses another folding in each version.
 * Computed once, in milliseconds.
 */
function readForms(): Map<string, string[]> {
  const candidates: string[] = [];
  for (let code = 0; code <= LAST_CASED; code++) {
    const character = String.fromCodePoint(code);
    if (character.toLowerCase() !== character || character.toUpperCase() !== character) {
      candidates.push(character);
    }
  }
  const all = candidates.join('');
  const forms = new Map<string, string[]>();
  for (const character of candidates) {
    const found = all.match(new RegExp(character, 'giu')) ?? [];
    const different = found.filter((other) => other !== character);
    if (different.length > 0) forms.set(character, different);
  }
  return forms;
}
