// Buffers and writes the lines of the log. A full buffer or disk never blocks the server: lines are dropped and
// counted.
import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

interface LineOutputOptions {
  readonly fd: number;
  /** Maximum number of buffered characters. */
  readonly capacity?: number;
  /** Called with the number of dropped lines when a write succeeds again. */
  readonly recovered: (dropped: number) => void;
}

const CAPACITY = 16 << 20;
/** Each flush wakes a thread. */
const FLUSH_LENGTH = 16 << 10;
const FLUSH_MS = 100;
/** Maximum number of retries at exit, for a slow reader. */
const EXIT_ATTEMPTS = 10;

/**
 * The destination of pino is not used: it retries forever on a full disk, and its buffer has no limit if the reader
 * stops.
 */
export class LineOutput implements DestinationStream {
  readonly #fd: number;
  readonly #capacity: number;
  readonly #recovered: (dropped: number) => void;
  #buffered = '';
  /** The bytes of the write in progress. */
  #writing: Buffer | undefined;
  /** True while the write in progress waits for a slow reader. */
  #isRetrying = false;
  #isScheduled = false;
  #dropped = 0;

  constructor({ fd, capacity = CAPACITY, recovered }: LineOutputOptions) {
    this.#fd = fd;
    this.#capacity = capacity;
    this.#recovered = recovered;
  }

  write(line: string): void {
    if (this.#buffered.length + line.length > this.#capacity) {
      this.#dropped++;
      return;
    }
    this.#buffered += line;
    if (this.#writing) return;
    if (this.#buffered.length >= FLUSH_LENGTH) this.#flush();
    else this.#schedule();
  }

  /** Writes the buffer at exit, as far as possible. Never throws. */
  flushSync(): void {
    const retried = this.#isRetrying && this.#writing ? this.#writing : Buffer.alloc(0);
    let rest = Buffer.concat([retried, Buffer.from(this.#buffered)]);
    this.#isRetrying = false;
    this.#buffered = '';
    for (let attempt = 0; rest.length > 0 && attempt < EXIT_ATTEMPTS; ) {
      try {
        rest = rest.subarray(writeSync(this.#fd, rest));
      } catch (error) {
        if (!isBusy(error)) return;
        attempt++;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FLUSH_MS);
      }
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      if (!this.#writing && this.#buffered !== '') this.#flush();
    }, FLUSH_MS).unref();
  }

  #flush(): void {
    const bytes = Buffer.from(this.#buffered);
    this.#buffered = '';
    this.#write(bytes);
  }

  #write(bytes: Buffer): void {
    this.#writing = bytes;
    write(this.#fd, bytes, (error, written) => {
      if (error && isBusy(error)) return this.#retry(bytes);
      if (!error && written < bytes.length) return this.#write(bytes.subarray(written));
      this.#writing = undefined;
      if (error) this.#dropped += linesIn(bytes);
      else this.#reportDropped();
      if (this.#buffered.length >= FLUSH_LENGTH && !error) this.#flush();
      else if (this.#buffered !== '') this.#schedule();
    });
  }

  #retry(bytes: Buffer): void {
    this.#isRetrying = true;
    setTimeout(() => {
      if (!this.#isRetrying) return;
      this.#isRetrying = false;
      this.#write(bytes);
    }, FLUSH_MS).unref();
  }

  #reportDropped(): void {
    const dropped = this.#dropped;
    if (dropped === 0) return;
    this.#dropped = 0;
    this.#recovered(dropped);
  }
}

/** Returns true if the pipe is full. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY');
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
  return lines;
}
