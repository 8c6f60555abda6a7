import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './json-bytes.ts';
import { LineTooLongError } from './line-splitter.ts';

/**
 * Takes a list apart while it arrives: the elements of its top-level member `items` one by one as raw JSON, and
 * everything else as the envelope. The list is never held whole, and the order of its members does not matter.
 */
export class ListSplitter {
  readonly #itemLimit: number;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The characters of the last string at the top level: before a `[` at this level it is the member's name. */
  #name = '';
  #inItems = false;
  #item: Buffer[] = [];
  #itemLength = 0;
  #envelope: Buffer[] = [];

  /** `itemLimit`: the largest item, in bytes. */
  constructor(itemLimit: number) {
    this.#itemLimit = itemLimit;
  }

  /** The items that this chunk completes; slices of the chunk where they lie in it whole. */
  *push(chunk: Buffer): Generator<Buffer, void, undefined> {
    let from = 0;
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i] ?? 0;
      if (this.#inString) {
        this.#stringByte(byte);
        continue;
      }
      if (byte === QUOTE) {
        this.#inString = true;
        if (this.#depth === 1) this.#name = '';
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (this.#inItems && this.#depth === 2) from = i;
        this.#depth++;
        if (byte === OPEN_BRACKET && this.#depth === 2 && this.#isItems()) {
          this.#inItems = true;
          this.#envelope.push(Buffer.from(chunk.subarray(from, i + 1)));
          from = i + 1;
        }
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth--;
        if (this.#inItems && this.#depth === 2) {
          yield this.#completeItem(chunk.subarray(from, i + 1));
          from = i + 1;
        } else if (this.#inItems && this.#depth === 1) {
          this.#inItems = false;
          from = i;
        }
      } else if (byte === COMMA && this.#inItems && this.#depth === 2) {
        from = i + 1;
      }
    }
    this.#keep(chunk, from);
  }

  /** The list without its items, once everything has come. Throws when the list was cut off. */
  envelope(): unknown {
    if (this.#depth !== 0 || this.#envelope.length === 0) throw new SyntaxError('the list was cut');
    return JSON.parse(Buffer.concat(this.#envelope).toString('utf8'));
  }

  #stringByte(byte: number): void {
    if (this.#escaped) {
      this.#escaped = false;
    } else if (byte === BACKSLASH) {
      this.#escaped = true;
    } else if (byte === QUOTE) {
      this.#inString = false;
      return;
    }
    if (this.#depth === 1 && this.#name.length < 64) this.#name += String.fromCharCode(byte);
  }

  #isItems(): boolean {
    return this.#name === 'items' || (this.#name.includes('\\') && JSON.parse(`"${this.#name}"`) === 'items');
  }

  #completeItem(tail: Buffer): Buffer {
    const parts = this.#item;
    const length = this.#itemLength + tail.length;
    if (length > this.#itemLimit) throw new LineTooLongError(this.#itemLimit);
    this.#item = [];
    this.#itemLength = 0;
    return parts.length === 0 ? tail : Buffer.concat([...parts, tail], length);
  }

  #keep(chunk: Buffer, from: number): void {
    if (from >= chunk.length) return;
    const rest = chunk.subarray(from);
    if (this.#inItems) {
      if (this.#depth <= 2) return;
      this.#item.push(rest);
      this.#itemLength += rest.length;
      if (this.#itemLength > this.#itemLimit) throw new LineTooLongError(this.#itemLimit);
    } else {
      this.#envelope.push(Buffer.from(rest));
    }
  }
}
