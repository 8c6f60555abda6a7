// The form that lines must have to be passed on unchanged; checked four bytes at a time.

const NEWLINE = 0x0a;
const QUOTE = 0x22;
const DOT = 0x2e;
const BACKSLASH = 0x5c;
const ZULU = 0x5a;
const LETTER_N = 0x6e;

/** Bytes that are compared at a time. */
const WORD = 4;

const HEAD = newForm('{"time":"');
const SECOND = Buffer.from('0000-00-00T00:00:00');
/** What stands before each name and before the line; a name ends with the quote that the next one begins with. */
const MEMBERS = ['","namespace":"', '","pod":"', '","container":"'].map(newForm);
const LOG = newForm('","log":"');
const TAIL = Buffer.from('"}');
export const TIME_BEGIN = HEAD.length;
const DIGITS = 9;
export const TIME_END = TIME_BEGIN + SECOND.length + '.'.length + DIGITS + 'Z'.length;
/** The missing end of a time, by how much of its fraction is there. */
const FRACTIONS = Array.from({ length: 1 + DIGITS }, (_, there) =>
  Buffer.from(`.${'0'.repeat(DIGITS)}`.slice(there)),
);

/**
 * Where the time of a line ends, of which nothing but digits may be missing; -1 when anything else is, or too much.
 * Quotes within strings are escaped, so none can be taken for an end. `before`: where such a line begins, if one is
 * there.
 */
export function zuluOf(bytes: Buffer, view: DataView, begin: number, end: number, before: number): number {
  if (!has(view, begin, HEAD)) return -1;
  const second = begin + TIME_BEGIN + SECOND.length;
  const isKnown = before !== -1 && isSameSecond(view, before + TIME_BEGIN, begin + TIME_BEGIN);
  if (!isKnown && !isSecond(bytes, begin + TIME_BEGIN)) return -1;
  const zulu = endOfFraction(bytes, second);
  if (bytes[zulu] !== ZULU) return -1;
  let at = zulu + 1;
  for (const member of MEMBERS) {
    if (!has(view, at, member)) return -1;
    at += member.length;
    for (let byte = bytes[at]; byte !== QUOTE; byte = bytes[++at])
      if (byte === BACKSLASH || byte === NEWLINE) return -1;
  }
  if (!has(view, at, LOG)) return -1;
  const tail = end - TAIL.length;
  if (at + LOG.length > tail || bytes[tail] !== TAIL[0] || bytes[tail + 1] !== TAIL[1]) return -1;
  // A newline, or a backslash and the letter: whoever parses it tells.
  return bytes[tail - 1] === LETTER_N && bytes[tail - 2] === BACKSLASH ? -1 : zulu;
}

function isSecond(bytes: Buffer, begin: number): boolean {
  for (let index = 0; index < SECOND.length; index++) {
    const [byte = 0, form] = [bytes[begin + index], SECOND[index]];
    if (form === 0x30 ? !isDigit(byte) : byte !== form) return false;
  }
  return true;
}

/** Of times that are there. */
function isSameSecond(view: DataView, left: number, right: number): boolean {
  const last = SECOND.length - WORD;
  if (right + SECOND.length > view.byteLength) return false;
  for (let at = 0; at < last; at += WORD)
    if (view.getInt32(left + at) !== view.getInt32(right + at)) return false;
  return view.getInt32(left + last) === view.getInt32(right + last);
}

/** Behind its last digit; right here when there is none. */
function endOfFraction(bytes: Buffer, dot: number): number {
  if (bytes[dot] !== DOT) return dot;
  let at = dot + 1;
  while (at <= dot + DIGITS && isDigit(bytes[at] ?? 0)) at++;
  return at === dot + 1 ? -1 : at;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** A text that is compared four bytes at a time. */
interface Form {
  readonly length: number;
  readonly words: readonly number[];
  /** Its last four bytes. */
  readonly last: number;
}

function newForm(text: string): Form {
  const bytes = Buffer.from(text);
  const words = Array.from({ length: Math.floor(bytes.length / WORD) }, (_, index) =>
    bytes.readInt32BE(index * WORD),
  );
  return { length: bytes.length, words, last: bytes.readInt32BE(bytes.length - WORD) };
}

function has(view: DataView, at: number, { length, words, last }: Form): boolean {
  if (at + length > view.byteLength) return false;
  for (let index = 0; index < words.length; index++)
    if (view.getInt32(at + index * WORD) !== words[index]) return false;
  return view.getInt32(at + length - WORD) === last;
}

/** What lacks behind so many characters of a time, up to its `Z`. */
export function digitsBehind(characters: number): Buffer {
  return FRACTIONS[characters - SECOND.length] ?? Buffer.alloc(0);
}
