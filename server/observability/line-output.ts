// Lines to a file descriptor, gathered: a system call for each request would cost more than the request. A log that cannot
// be written never holds the server up. What is gathered is bounded, and lines beyond it, or that a full disk
// refuses, are lost and counted. (pino's own destination waits for a full disk for ever, and holds all lines for a
// reader that has stopped.)
import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

export interface LineOutputOptions {
  readonly fd: number;
  /** Characters that wait at most. */
  readonly capacity?: number;
  /** Told once lines can be written again, how many were lost. */
  readonly recovered: (lost: number) => void;
}

const CAPACITY = 16 << 20;
const ENOUGH = 4096;
const WAIT_MS = 100;
/** For a reader that is slow when the process ends. */
const LAST_ATTEMPTS = 10;

export class LineOutput implements DestinationStream {
  readonly #fd: number;
  readonly #capacity: number;
  readonly #recovered: (lost: number) => void;
  #waiting = '';
  /** What the system has been given, and has not taken as a whole yet. */
  #given: Buffer | undefined;
  /** Whether that is to be given once more, since the reader was busy. */
  #isRefused = false;
  #isDue = false;
  #lost = 0;

  constructor({ fd, capacity = CAPACITY, recovered }: LineOutputOptions) {
    this.#fd = fd;
    this.#capacity = capacity;
    this.#recovered = recovered;
  }

  write(line: string): void {
    if (this.#waiting.length + line.length > this.#capacity) {
      this.#lost++;
      return;
    }
    this.#waiting += line;
    if (this.#given) return;
    if (this.#waiting.length >= ENOUGH) this.#flush();
    else this.#later();
  }

  /** Before the process ends: writes what waits, as far as the system takes it. Never throws. */
  flushSync(): void {
    const refused = this.#isRefused && this.#given ? this.#given : Buffer.alloc(0);
    let rest = Buffer.concat([refused, Buffer.from(this.#waiting)]);
    this.#isRefused = false;
    this.#waiting = '';
    for (let attempt = 0; rest.length > 0 && attempt < LAST_ATTEMPTS; ) {
      try {
        rest = rest.subarray(writeSync(this.#fd, rest));
      } catch (error) {
        if (!isBusy(error)) return;
        attempt++;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
      }
    }
  }

  #later(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setTimeout(() => {
      this.#isDue = false;
      if (!this.#given && this.#waiting !== '') this.#flush();
    }, WAIT_MS).unref();
  }

  #flush(): void {
    const bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    this.#give(bytes);
  }

  #give(bytes: Buffer): void {
    this.#given = bytes;
    write(this.#fd, bytes, (error, written) => {
      if (error && isBusy(error)) return this.#giveLater(bytes);
      if (!error && written < bytes.length) return this.#give(bytes.subarray(written));
      this.#given = undefined;
      if (error) this.#lost += linesIn(bytes);
      else this.#tellLost();
      if (this.#waiting.length >= ENOUGH && !error) this.#flush();
      else if (this.#waiting !== '') this.#later();
    });
  }

  #giveLater(bytes: Buffer): void {
    this.#isRefused = true;
    setTimeout(() => {
      if (!this.#isRefused) return;
      this.#isRefused = false;
      this.#give(bytes);
    }, WAIT_MS).unref();
  }

  #tellLost(): void {
    const lost = this.#lost;
    if (lost === 0) return;
    this.#lost = 0;
    this.#recovered(lost);
  }
}

/** The reader of a pipe has not taken the last bytes yet. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EAGAIN' || error.code === 'EBUSY');
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
  return lines;
}
