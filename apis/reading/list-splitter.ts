// Splitter of JSON lists into their items, while a list arrives.

import { ByteChunks } from './byte-chunks.ts';
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
 * Splits a list into its items and its envelope, while the list arrives. The items are the elements of a field, by default
 * of the top-level field `items`; the envelope is all other fields. The fields can have any order, and the list is never in
 * memory as a whole. Items over the limit are skipped, so that one object never makes a list impossible.
 */
export class ListSplitter {
  readonly #itemLimit: number;
  /** Names of the objects that contain the items, and of the field of the items. */
  readonly #path: readonly string[];
  /** Number of open objects that `path` names. */
  #matched = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The last string at the level of the next name in `path`. If a `[` or `{` follows, the string is a field name. */
  #name = '';
  #inItems = false;
  readonly #item = new ByteChunks();
  /** Also of the part that was dropped. */
  #itemLength = 0;
  readonly #envelope = new ByteChunks();
  #skipped = 0;

  /** `itemLimit`: maximum size of an item, and of the envelope, in bytes. */
  constructor(itemLimit: number, path: readonly string[] = ['items']) {
    this.#itemLimit = itemLimit;
    this.#path = path;
  }

  /** Number of items over the limit. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Yields the items that this chunk completes, as slices of the chunk where possible. */
  *push(chunk: Buffer): Generator<Buffer, void, undefined> {
    let from = 0;
    for (let i = 0; i < chunk.length; i++) {
      if (this.#inString && !this.#escaped && !this.#isAtName()) i = textEnd(chunk, i);
      const byte = chunk[i] ?? 0;
      if (this.#inString) {
        this.#stringByte(byte);
        continue;
      }
      if (byte === QUOTE) {
        this.#inString = true;
        if (this.#isAtName()) this.#name = '';
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (this.#isBetweenItems()) from = i;
        const isNamed = this.#isAtName() && this.#isNext();
        this.#depth++;
        if (isNamed && byte === OPEN_BRACKET && this.#matched === this.#path.length - 1) {
          this.#inItems = true;
          this.#keepEnvelope(chunk.subarray(from, i + 1));
          from = i + 1;
        } else if (isNamed && byte === OPEN_BRACE && this.#matched < this.#path.length - 1) {
          this.#matched++;
        }
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth--;
        if (this.#isBetweenItems()) {
          const item = this.#completeItem(chunk.subarray(from, i + 1));
          if (item) yield item;
          from = i + 1;
        } else if (this.#inItems && this.#isAtName()) {
          this.#inItems = false;
          from = i;
        } else if (this.#depth === this.#matched) {
          this.#matched = Math.max(0, this.#matched - 1);
        }
      } else if (byte === COMMA && this.#isBetweenItems()) {
        from = i + 1;
      }
    }
    this.#keep(chunk, from);
  }

  /** Returns the JSON of the list without its items; call it after the last chunk. Throws if the list is truncated. */
  envelope(): Buffer {
    if (this.#depth !== 0 || this.#envelope.length === 0)
      throw new SyntaxError('the response is not a complete list');
    return Buffer.concat(this.#envelope.take());
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
    if (this.#isAtName() && this.#name.length < 64) this.#name += String.fromCharCode(byte);
  }

  /** Whether a string here can be the next name of the path. */
  #isAtName(): boolean {
    return this.#depth === this.#matched + 1;
  }

  #isNext(): boolean {
    const name = this.#name;
    const next = this.#path[this.#matched];
    return name === next || (name.includes('\\') && JSON.parse(`"${name}"`) === next);
  }

  /** Whether no item is open in the array of the items. */
  #isBetweenItems(): boolean {
    return this.#inItems && this.#depth === this.#path.length + 1;
  }

  /** Returns undefined for an item over the limit. */
  #completeItem(tail: Buffer): Buffer | undefined {
    const parts = this.#item.take();
    const length = this.#itemLength + tail.length;
    this.#itemLength = 0;
    if (length > this.#itemLimit) {
      this.#skipped++;
      return undefined;
    }
    return parts.length === 0 ? tail : Buffer.concat([...parts, tail], length);
  }

  #keep(chunk: Buffer, from: number): void {
    if (from >= chunk.length) return;
    const rest = chunk.subarray(from);
    if (!this.#inItems) return this.#keepEnvelope(rest);
    if (this.#isBetweenItems()) return;
    this.#itemLength += rest.length;
    if (this.#itemLength <= this.#itemLimit) this.#item.add(rest);
    else this.#item.take();
  }

  #keepEnvelope(part: Buffer): void {
    if (this.#envelope.length + part.length > this.#itemLimit) throw new LineTooLongError(this.#itemLimit);
    this.#envelope.add(Buffer.from(part));
  }
}

/** Returns the offset of the next quote or backslash. Most bytes of a list are in its strings. */
function textEnd(chunk: Buffer, at: number): number {
  let end = at;
  while (end < chunk.length && chunk[end] !== QUOTE && chunk[end] !== BACKSLASH) end++;
  return end;
}
