// Splits a stream of JSON values, one per line, into its lines.
import { ByteChunks } from './byte-chunks.ts';

/** A line or an object of a response is longer than the limit. */
export class LineTooLongError extends Error {
  constructor(limit: number) {
    super(`a line of the stream is longer than ${limit} bytes`);
    this.name = 'LineTooLongError';
  }
}

const NEWLINE = 0x0a;

/**
 * Splits a stream of chunks into lines, one JSON object per line. Strings in JSON contain no raw newline. Each byte is
 * read once, and copied at most once, except in small chunks.
 */
export class LineSplitter {
  readonly #limit: number;
  readonly #pending = new ByteChunks();
  /** Buffer for lines that span chunks, reused for each such line. */
  #joined = Buffer.alloc(0);

  /** `limit`: the longest line, in bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** True if the chunks so far end within a line. */
  get midLine(): boolean {
    return this.#pending.length > 0;
  }

  /**
   * Yields the lines that this chunk completes, without their newline. A line is a slice of the chunk or of a reused
   * buffer, so it is valid until the next line is requested.
   */
  *push(chunk: Buffer): Generator<Buffer, void, undefined> {
    let from = 0;
    for (;;) {
      const newline = chunk.indexOf(NEWLINE, from);
      const to = newline === -1 ? chunk.length : newline;
      if (this.#pending.length + to - from > this.#limit) throw new LineTooLongError(this.#limit);
      if (newline === -1) break;
      const line = this.#complete(chunk.subarray(from, to));
      from = newline + 1;
      if (line.length > 0) yield line;
    }
    if (from < chunk.length) this.#pending.add(chunk.subarray(from));
  }

  #complete(tail: Buffer): Buffer {
    if (this.#pending.length === 0) return tail;
    const length = this.#pending.length + tail.length;
    if (this.#joined.length < length) this.#joined = Buffer.allocUnsafeSlow(length * 2);
    let at = 0;
    for (const part of this.#pending.take()) at += part.copy(this.#joined, at);
    tail.copy(this.#joined, at);
    return this.#joined.subarray(0, length);
  }
}
