// Where the events of one watcher go: a body in chunks, or a WebSocket. Each is a line of JSON, whatever carries it.

export interface WatchOutput {
  /** Sends the headers at once: clients wait for them, and events may be long in coming. */
  open(): void;
  /** The headers are out: what fails now can not be answered any more. */
  readonly opened: boolean;
  /** False while the reader is behind; then `onDrain` tells when it is not any more. */
  readonly ready: boolean;
  /** Bytes that wait for the reader. */
  readonly waiting: number;
  readonly closed: boolean;
  /** One event, most likely one that other watchers get too. */
  write(line: Buffer): void;
  /** One event of a batch, in the parts in which it goes out. */
  framed(parts: readonly Buffer[]): readonly Buffer[];
  /**
   * Many events for this watcher alone, in parts that add up to `size` bytes. `left` is called when they and all before
   * them have left, or never will.
   */
  writeBatch(parts: readonly Buffer[], size: number, events: number, left: () => void): void;
  /** Calls `listener` each time all that was written has left. Returns the function that ends it. */
  onDrain(listener: () => void): () => void;
  /** The stream is complete. */
  end(): void;
  /** The reader is not worth waiting for. */
  cut(): void;
}

export interface OutputObserver {
  sent(events: number, bytes: number): void;
}

/** Bytes that may wait in a socket before events are held back. */
export const HIGH_WATER = 256 * 1024;

/** Encodes lines; the last one's outcome is kept, since one event goes to all watchers one after another. */
export class LineEncoder {
  readonly #encode: (line: Buffer) => Buffer;
  #line: Buffer | undefined;
  #encoded: Buffer = Buffer.alloc(0);

  constructor(encode: (line: Buffer) => Buffer) {
    this.#encode = encode;
  }

  encode(line: Buffer): Buffer {
    if (line !== this.#line) {
      this.#encoded = this.#encode(line);
      this.#line = line;
    }
    return this.#encoded;
  }
}
