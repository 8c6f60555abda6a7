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

/**
 * Of bytes from `left` and from `right` on: texts in the same members, until one ends. NaN when it takes more to tell,
 * which is so where the first characters that differ are none of ASCII.
 */
export function compareTexts(bytes: Buffer, left: number, right: number, length: number): number {
  let at = 0;
  while (at < length && bytes[left + at] === bytes[right + at]) at++;
  if (at === length) return 0;
  at -= intoEscape(bytes, left + at);
  const [one, other] = [unitAt(bytes, left + at), unitAt(bytes, right + at)];
  return one === other ? UNKNOWN : one - other;
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

/** The code of the character that begins here; less than any at the end of a text, and NaN when it takes more to tell. */
function unitAt(bytes: Buffer, place: number): number {
  const byte = bytes[place] ?? UNKNOWN;
  if (byte === QUOTE) return -1;
  if (byte !== BACKSLASH) return byte < 0x80 ? byte : UNKNOWN;
  const letter = bytes[place + 1] ?? 0;
  if (letter === LETTER_U)
    return Number.parseInt(bytes.toString('latin1', place + 2, place + LONGEST_ESCAPE), 16);
  return ESCAPES.get(letter) ?? UNKNOWN;
}
