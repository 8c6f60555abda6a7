// Where the events of one watcher go: a body in chunks, or a WebSocket. Each is a line of JSON, whatever carries it.

export interface WatchOutput {
  /** Sends the headers at once: clients wait for them, and events may be long in coming. */
  open(): void;
  /** The headers are out: what fails now cannot be answered any more. */
  readonly opened: boolean;
  /** False while the reader is behind; then `onDrain` tells when it is not any more. */
  readonly ready: boolean;
  /** Bytes that wait for the reader. */
  readonly waiting: number;
  readonly closed: boolean;
  /** One event, most likely one that other watchers get too. */
  write(line: Buffer): void;
  /**
   * Events for this watcher alone, at least one, each in parts that are `size` bytes all together. `left` is called when
   * they and all before them have left, or never will.
   */
  writeBatch(events: readonly (readonly Buffer[])[], size: number, left: () => void): void;
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
