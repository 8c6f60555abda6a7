// Bytes that arrive in chunks, until they are complete.

/** So many chunks below this size become one. */
const SMALL_CHUNK = 1024;
const MERGED_CHUNKS = 256;

/**
 * Joins many small chunks on the way: a buffer of one byte takes a hundred bytes, and can keep the 64 KiB in memory that were read from the
 * socket with it.
 */
export class ByteChunks {
  #chunks: Buffer[] = [];
  /** Number of small chunks at the end. */
  #small = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    this.#small = chunk.length < SMALL_CHUNK ? this.#small + 1 : 0;
    if (this.#small < MERGED_CHUNKS) return;
    this.#chunks.push(Buffer.concat(this.#chunks.splice(-this.#small)));
    this.#small = 0;
  }

  /** Removes the bytes, and returns their chunks. */
  take(): readonly Buffer[] {
    const chunks = this.#chunks;
    [this.#chunks, this.#small, this.#length] = [[], 0, 0];
    return chunks;
  }
}
