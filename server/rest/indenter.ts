// Indents JSON bytes without parsing, so that large integers are preserved.

import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isSpace,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../../apis/reading/json-bytes.ts';

const INDENT = '  ';
const isOpening = (byte: number): boolean => byte === OPEN_BRACE || byte === OPEN_BRACKET;
const isClosing = (byte: number): boolean => byte === CLOSE_BRACE || byte === CLOSE_BRACKET;

/** Indents one JSON value that arrives in chunks; a chunk can end within a token. */
export class Indenter {
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** True directly after an opening bracket, because an empty array or object stays on one line. */
  #justOpened = false;

  write(piece: Buffer): Buffer {
    const out: string[] = [];
    let copied = 0;
    const flush = (at: number): void => {
      if (at > copied) out.push(piece.toString('latin1', copied, at));
      copied = at;
    };
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at] ?? 0;
      if (this.#inString) {
        this.#inString = !this.#endsString(byte);
        continue;
      }
      if (isSpace(byte)) {
        flush(at);
        copied = at + 1;
        continue;
      }
      const opened = this.#justOpened;
      this.#justOpened = false;
      flush(at);
      if (isClosing(byte)) {
        this.#depth -= 1;
        if (!opened) out.push(this.#newline());
      } else if (opened) {
        out.push(this.#newline());
      }
      if (byte === QUOTE) this.#inString = true;
      else if (isOpening(byte)) {
        this.#depth += 1;
        this.#justOpened = true;
      } else if (byte === COMMA || byte === COLON) {
        flush(at + 1);
        out.push(byte === COLON ? ' ' : this.#newline());
      }
    }
    flush(piece.length);
    // latin1 preserves the bytes of UTF-8 sequences.
    return Buffer.from(out.join(''), 'latin1');
  }

  #endsString(byte: number): boolean {
    if (this.#escaped) {
      this.#escaped = false;
      return false;
    }
    this.#escaped = byte === BACKSLASH;
    return byte === QUOTE;
  }

  #newline(): string {
    return `\n${INDENT.repeat(Math.max(0, this.#depth))}`;
  }
}

export function prettyPrinted(json: Buffer): Buffer {
  return new Indenter().write(json);
}
