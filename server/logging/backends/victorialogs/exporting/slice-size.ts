/** Of a slice that was read. */
export interface SliceProgress {
  readonly lines: number;
  readonly bytes: number;
  /** Milliseconds that its reader took. */
  readonly readerMs: number;
  /** And those that the reader waited. */
  readonly storeMs: number;
}

const FIRST = 4_000;
const LEAST = 1_000;
const GROWTH = 16;
const SHRINKING = 4;
const MAX_LINES = 200_000;
const MAX_BYTES = 32 << 20;
const READER_MS = 1_000;
const STORE_MS = 3_000;

/**
 * How many lines to ask the store for at a time. Many cost it less, for it looks into all its blocks for each request;
 * but it holds them all until they are read, and gives none before it has them all. So it should be what is read in a
 * second, or found in a few, and not too many bytes. The first are few, so that something is there soon, and nobody
 * knows yet how long they are.
 */
export class SliceSize {
  #lines = FIRST;
  #most = MAX_LINES;

  get lines(): number {
    return this.#lines;
  }

  learn({ lines, bytes, readerMs, storeMs }: SliceProgress): void {
    if (lines === 0) return;
    const fitting = Math.min(
      (lines * READER_MS) / Math.max(1, readerMs),
      // A store that takes long for few lines would take as long for even fewer.
      Math.max(FIRST, (lines * STORE_MS) / Math.max(1, storeMs)),
      (lines * MAX_BYTES) / bytes,
      this.#lines * GROWTH,
    );
    this.#lines = Math.min(this.#most, Math.max(LEAST, Math.floor(fitting)));
  }

  /** They were more than the store has memory for. */
  shrink(): void {
    this.#most = Math.max(1, Math.floor(this.#lines / SHRINKING));
    this.#lines = this.#most;
  }
}
