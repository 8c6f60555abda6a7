import type { LogRecord } from '../../../log-store.ts';
import { compareText } from '../pods/log-source.ts';

export interface FollowQueueOptions {
  /** Bytes of lines that wait; those who bring more wait too. */
  readonly memory: number;
  /** How long lines of several logs are gathered to be put in order, in ms. */
  readonly gatherMs?: number;
}

const GATHER_MS = 20;
const OVERHEAD = 200;

/** Between the logs that are followed and the one who reads them all. */
export class FollowQueue {
  readonly #memory: number;
  readonly #gatherMs: number;
  #records: LogRecord[] = [];
  #bytes = 0;
  #failure: Error | undefined;
  #filled = Promise.withResolvers<void>();
  #emptied = Promise.withResolvers<void>();

  constructor({ memory, gatherMs = GATHER_MS }: FollowQueueOptions) {
    this.#memory = memory;
    this.#gatherMs = gatherMs;
  }

  /** Undefined while there is room for more; else a promise that there is. */
  push(records: readonly LogRecord[]): Promise<void> | undefined {
    for (const record of records) {
      this.#records.push(record);
      this.#bytes += record.log.length + OVERHEAD;
    }
    this.#filled.resolve();
    return this.#bytes > this.#memory && !this.#failure ? this.#emptied.promise : undefined;
  }

  /** Ends the reading with this. */
  fail(failure: Error): void {
    this.#failure ??= failure;
    this.#filled.resolve();
    this.#emptied.resolve();
  }

  /** What has come, by time, as soon as there is something. Throws what `fail` was called with. */
  async take(): Promise<readonly LogRecord[]> {
    await this.#filled.promise;
    if (this.#bytes <= this.#memory && !this.#failure) await gathered(this.#gatherMs);
    // oxlint-disable-next-line only-throw-error -- it is one
    if (this.#failure) throw this.#failure;
    const records = this.#records.sort((a, b) => compareText(a.time, b.time));
    this.#records = [];
    this.#bytes = 0;
    this.#filled = Promise.withResolvers();
    this.#emptied.resolve();
    this.#emptied = Promise.withResolvers();
    return records;
  }
}

function gathered(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms);
  return promise;
}
