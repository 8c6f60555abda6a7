// Scanner for the offsets of the fields in the JSON text of an object. The informer cache validates the JSON with
// JSON.parse.

import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isSpace,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  stringEnd,
} from '../../../apis/reading/json-bytes.ts';

/** A field of a JSON object. Offsets are positions in the bytes; `end` is exclusive. */
export interface Member {
  readonly name: string;
  /** Offset of the opening quote of the name. */
  readonly keyStart: number;
  /** Offset of the value. */
  readonly start: number;
  readonly end: number;
}

/** A JSON object and its fields. `bytes` ends at the end of the object; offsets are positions in `bytes`. */
interface ScannedObject {
  readonly bytes: Buffer;
  readonly members: readonly Member[];
}

/** Returns the fields of the object that starts at `at`, possibly after whitespace. Names are unescaped. */
export function objectMembers(bytes: Buffer, at = 0): Member[] {
  return scan(bytes, at).members;
}

/**
 * Returns the fields of the object in `bytes`, and the fields of its object `inner`; each byte is read once. If the
 * name `inner` occurs repeatedly, the last occurrence is used.
 */
export function nestedMembers(
  bytes: Buffer,
  inner: string,
): { readonly members: readonly Member[]; readonly inner: ScannedObject | undefined } {
  let found: ScannedObject | undefined;
  const { members } = scan(bytes, 0, (name, start) => {
    if (name !== inner) return valueEnd(bytes, start);
    found = undefined;
    if (bytes[start] !== OPEN_BRACE) return valueEnd(bytes, start);
    const rest = bytes.subarray(start);
    const { members, end } = scan(rest, 0);
    found = { bytes: rest.subarray(0, end), members };
    return start + end;
  });
  return { members, inner: found };
}

function scan(
  bytes: Buffer,
  at: number,
  endOf = (_name: string, start: number): number => valueEnd(bytes, start),
): { readonly members: Member[]; readonly end: number } {
  const members: Member[] = [];
  let i = skipSpace(bytes, at);
  if (bytes[i] !== OPEN_BRACE) throw malformed(i);
  i = skipSpace(bytes, i + 1);
  if (bytes[i] === CLOSE_BRACE) return { members, end: i + 1 };
  for (;;) {
    const keyStart = i;
    if (bytes[i] !== QUOTE) throw malformed(i);
    i = completeStringEnd(bytes, i);
    const name = memberName(bytes, keyStart, i);
    i = skipSpace(bytes, i);
    if (bytes[i] !== COLON) throw malformed(i);
    const start = skipSpace(bytes, i + 1);
    const end = endOf(name, start);
    members.push({ name, keyStart, start, end });
    i = skipSpace(bytes, end);
    if (bytes[i] === CLOSE_BRACE) return { members, end: i + 1 };
    if (bytes[i] !== COMMA) throw malformed(i);
    i = skipSpace(bytes, i + 1);
  }
}

/** Returns the field with this name. If the name occurs repeatedly, this is the last one, as in JSON.parse. */
export function memberNamed(members: readonly Member[], name: string): Member | undefined {
  return members.findLast((member) => member.name === name);
}

/** Returns the offset of the end of the value that starts at `at`. */
function valueEnd(bytes: Buffer, at: number): number {
  const first = bytes[at];
  if (first === QUOTE) return completeStringEnd(bytes, at);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return nestedEnd(bytes, at);
  let i = at;
  while (i < bytes.length && !endsScalar(bytes[i])) i++;
  if (i === at) throw malformed(at);
  return i;
}

function nestedEnd(bytes: Buffer, at: number): number {
  let depth = 0;
  for (let i = at; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) {
      i = completeStringEnd(bytes, i) - 1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
      if (depth === 0) return i + 1;
    }
  }
  throw malformed(bytes.length);
}

function completeStringEnd(bytes: Buffer, at: number): number {
  const end = stringEnd(bytes, at);
  if (end === undefined) throw malformed(bytes.length);
  return end;
}

function memberName(bytes: Buffer, from: number, to: number): string {
  const plain = bytes.toString('utf8', from + 1, to - 1);
  return plain.includes('\\') ? String(JSON.parse(`"${plain}"`)) : plain;
}

function skipSpace(bytes: Buffer, at: number): number {
  let i = at;
  while (isSpace(bytes[i])) i++;
  return i;
}

function endsScalar(byte: number | undefined): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte);
}

function malformed(offset: number): SyntaxError {
  return new SyntaxError(`malformed JSON at byte ${offset}`);
}
