// The structural bytes of JSON (RFC 8259, section 2). In UTF-8, these bytes never occur within another character.
export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;
export const OPEN_BRACKET = 0x5b;
export const CLOSE_BRACKET = 0x5d;

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Returns the offset after the string whose opening quote is at `at`; undefined if the string does not end. */
export function stringEnd(bytes: Buffer, at: number): number | undefined {
  for (let i = at + 1; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE) return i + 1;
    if (byte === BACKSLASH) i++;
  }
  return undefined;
}
