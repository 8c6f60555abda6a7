import type { LogRecord } from '../../../log-store.ts';
import { compareText } from '../pods/log-source.ts';
import type { MemoryShare } from '../reading/memory-budget.ts';
import { costOf } from '../reading/ranked-line.ts';

export interface FollowQueueOptions {
  /** For lines that wait, or are on their way to the reader; whoever would add more has to wait too. */
  readonly memory: MemoryShare;
  /** How long lines of several logs are gathered to be put in order, in ms. */
  readonly gatherMs?: number;
}

const GATHER_MS = 20;
/** Bytes that one follower holds at most, whatever there is. */
const MOST = 1 << 20;

/** Between the logs that are followed and the one who reads them all. */
export class FollowQueue {
  readonly #memory: MemoryShare;
  readonly #gatherMs: number;
  #records: LogRecord[] = [];
  #waiting = 0;
  /** What the reader has taken and is working on. */
  #given = 0;
  #failure: Error | undefined;
  #filled = Promise.withResolvers<void>();
  #emptied = Promise.withResolvers<void>();

  constructor({ memory, gatherMs = GATHER_MS }: FollowQueueOptions) {
    this.#memory = memory;
    this.#gatherMs = gatherMs;
  }

  /** Undefined while there is room for more; else a promise that there may be. */
  room(): Promise<void> | undefined {
    return this.#isFull && !this.#failure ? this.#emptied.promise : undefined;
  }

  push(records: readonly LogRecord[]): void {
    let bytes = 0;
    for (const record of records) {
      this.#records.push(record);
      bytes += costOf(record.log);
    }
    this.#waiting += bytes;
    this.#memory.change(bytes);
    this.#filled.resolve();
  }

  get #isFull(): boolean {
    const { held, room } = this.#memory;
    return held > Math.min(MOST, room);
  }

  /** Ends the reading with this. */
  fail(failure: Error): void {
    this.#failure ??= failure;
    this.#filled.resolve();
    this.#emptied.resolve();
  }

  /** What has come, by time, as soon as there is something. Throws what `fail` was called with. */
  async take(): Promise<readonly LogRecord[]> {
    // A reader who asks for more has finished the last batch.
    this.#memory.change(-this.#given);
    this.#given = 0;
    this.#emptied.resolve();
    this.#emptied = Promise.withResolvers();
    await this.#filled.promise;
    if (!this.#isFull && !this.#failure) await gathered(this.#gatherMs);
    // oxlint-disable-next-line only-throw-error -- it is one
    if (this.#failure) throw this.#failure;
    const records = this.#records.sort((a, b) => compareText(a.time, b.time));
    this.#records = [];
    [this.#given, this.#waiting] = [this.#waiting, 0];
    this.#filled = Promise.withResolvers();
    return records;
  }
}

function gathered(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms);
  return promise;
}
