// Which of two texts in JSON comes first, without decoding them. The units of UTF-16 count, as they do where records are
// put in order.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
/** Of an escape in JSON: `\u001b`. */
const LONGEST_ESCAPE = 6;
const ESCAPES: ReadonlyMap<number, number> = new Map(
  Array.from('bfnrt"\\/', (letter) => [
    letter.charCodeAt(0),
    (JSON.parse(`"\\${letter}"`) as string).charCodeAt(0),
  ]),
);
const UNKNOWN = Number.NaN;
/** Surrogates: of characters that are two units of UTF-16, the first comes from here on. */
const [SURROGATES, BEHIND_SURROGATES] = [0xd800, 0xe000];
/** The first character that is two units, and how many of these have their first unit in common. */
const [TWO_UNITS, OF_ONE_UNIT] = [0x10000, 0x400];
/** Of a character in UTF-8. */
const LONGEST_CHARACTER = 4;

/**
 * Of bytes from `left` and from `right` on: texts in the same members, until one ends. NaN when it takes more to tell,
 * which is so only where the same character is written in two ways, or half of one as an escape.
 */
export function compareTexts(bytes: Buffer, left: number, right: number, length: number): number {
  let at = 0;
  while (at < length && bytes[left + at] === bytes[right + at]) at++;
  if (at === length) return 0;
  at -= intoCharacter(bytes, left + at);
  at -= intoEscape(bytes, left + at);
  const [one, other] = [unitAt(bytes, left + at), unitAt(bytes, right + at)];
  return one === other ? UNKNOWN : one - other;
}

/** How many bytes of a character come before this one. */
function intoCharacter(bytes: Buffer, place: number): number {
  let back = 0;
  while (((bytes[place - back] ?? 0) & 0xc0) === 0x80) back++;
  return back;
}

/** How many bytes of an escape come before this one, which is in a text. */
function intoEscape(bytes: Buffer, place: number): number {
  let back = 1;
  while (back < LONGEST_ESCAPE && bytes[place - back] !== BACKSLASH) back++;
  if (back === LONGEST_ESCAPE) return 0;
  let backslashes = 1;
  while (bytes[place - back - backslashes] === BACKSLASH) backslashes++;
  // The second one of a pair begins nothing.
  if (backslashes % 2 === 0) return 0;
  return back < (bytes[place - back + 1] === LETTER_U ? LONGEST_ESCAPE : 2) ? back : 0;
}

/** The unit that begins here; less than any at the end of a text, and NaN when it takes more to tell. */
function unitAt(bytes: Buffer, place: number): number {
  const byte = bytes[place] ?? UNKNOWN;
  if (byte === QUOTE) return -1;
  if (byte === BACKSLASH) return escapedAt(bytes, place);
  if (byte < 0x80) return byte;
  const code = bytes.toString('utf8', place, place + LONGEST_CHARACTER).codePointAt(0) ?? UNKNOWN;
  // Behind the point is what tells the second units.
  return code < TWO_UNITS ? code : SURROGATES + (code - TWO_UNITS) / OF_ONE_UNIT;
}

function escapedAt(bytes: Buffer, place: number): number {
  const letter = bytes[place + 1] ?? 0;
  if (letter !== LETTER_U) return ESCAPES.get(letter) ?? UNKNOWN;
  const unit = Number.parseInt(bytes.toString('latin1', place + 2, place + LONGEST_ESCAPE), 16);
  return unit >= SURROGATES && unit < BEHIND_SURROGATES ? UNKNOWN : unit;
}
