import { compareText } from '../../../compare-text.ts';
import type { Instant, LogRecord } from '../../../log-store.ts';
import type { MemoryShare } from '../reading/memory-budget.ts';
import { costOf } from '../reading/ranked-line.ts';
import { LowWatermark, type Progress } from './low-watermark.ts';

export interface FollowQueueOptions {
  /** For lines that wait, or are on their way to the reader; whoever would add more has to wait too. */
  readonly memory: MemoryShare;
  /** How long lines of several logs are gathered to be put in order, in ms. */
  readonly gatherMs?: number;
}

const GATHER_MS = 20;
/** Bytes that one follower holds at most, whatever there is. */
const MOST = 1 << 20;

/**
 * Between the logs that are followed and the one who reads them all. No line is given while the backlog of another log
 * may have an older one: who comes back asks for what is behind the last line.
 */
export class FollowQueue {
  readonly #memory: MemoryShare;
  readonly #gatherMs: number;
  readonly #watermark = new LowWatermark(() => {
    this.#look();
    this.#wakeLogs();
  });
  #records: LogRecord[] = [];
  /** Of these. */
  #oldest: Instant | undefined;
  /** What the reader has taken and is working on. */
  #given = 0;
  #failure: Error | undefined;
  #filled = Promise.withResolvers<void>();
  #emptied = Promise.withResolvers<void>();

  constructor({ memory, gatherMs = GATHER_MS }: FollowQueueOptions) {
    this.#memory = memory;
    this.#gatherMs = gatherMs;
  }

  /** Of a log with a backlog. */
  begin(): Progress {
    return this.#watermark.begin();
  }

  /** Undefined while there is room for more; else a promise that there may be. The log that others wait for goes on. */
  room(progress?: Progress): Promise<void> | undefined {
    if (!this.#isFull || this.#failure) return undefined;
    const isAwaited = progress?.isLast() && this.#given === 0 && !this.#isReady(this.#oldest);
    return isAwaited ? undefined : this.#emptied.promise;
  }

  push(records: readonly LogRecord[]): void {
    let bytes = 0;
    for (const record of records) {
      this.#records.push(record);
      if (this.#oldest === undefined || record.time < this.#oldest) this.#oldest = record.time;
      bytes += costOf(record.log);
    }
    this.#memory.change(bytes);
    this.#look();
  }

  #look(): void {
    if (this.#isReady(this.#oldest)) this.#filled.resolve();
  }

  #isReady(time: Instant | undefined): boolean {
    const { time: reached } = this.#watermark;
    return time !== undefined && (reached === undefined || time <= reached);
  }

  #wakeLogs(): void {
    this.#emptied.resolve();
    this.#emptied = Promise.withResolvers();
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
    this.#wakeLogs();
    await this.#filled.promise;
    if (!this.#isFull && !this.#failure) await gathered(this.#gatherMs);
    // oxlint-disable-next-line only-throw-error -- it is one
    if (this.#failure) throw this.#failure;
    const records = this.#records.sort((a, b) => compareText(a.time, b.time));
    const others = records.findIndex(({ time }) => !this.#isReady(time));
    this.#records = others === -1 ? [] : records.splice(others);
    this.#oldest = this.#records[0]?.time;
    this.#given = records.reduce((sum, { log }) => sum + costOf(log), 0);
    this.#filled = Promise.withResolvers();
    return records;
  }
}

function gathered(ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setTimeout(resolve, ms);
  return promise;
}
