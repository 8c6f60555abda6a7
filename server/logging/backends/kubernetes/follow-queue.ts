// Queue that merges the lines of all containers of a live tail by time. A line waits until the existing lines of
// every container are read up to its time.
import { setTimeout as delay } from 'node:timers/promises';
import { compareText } from '../../store/instant.ts';
import type { Instant, LogRecord } from '../../store/log-store.ts';
import type { MemoryShare } from './line-memory.ts';
import { costOf } from './log-line.ts';

/** Progress of reading a backlog: the lines of one log that existed when the live tail began. */
export interface Backlog {
  /** Reports that lines up to this time were read. Earlier times than before are ignored. */
  reached(time: Instant): void;
  /** Reports that the backlog is read: other logs no longer wait for it. */
  end(): void;
}

/** Time for which lines are collected before they are sorted. */
const GATHER_MS = 20;
const MAX_BYTES = 1 << 20;
/** Sorts before all times. */
const NOTHING_READ: Instant = '';

/**
 * A client resumes a live tail after the time of its last line, so the lines from before the start of the live tail
 * must be sent in the order of time.
 */
export class FollowQueue {
  readonly #memory: MemoryShare;
  /** The times that the backlogs have reached. */
  readonly #reached = new Map<Backlog, Instant>();
  /** The earliest of these times: all older lines were read. Undefined without backlogs. */
  #watermark: Instant | undefined;
  #records: LogRecord[] = [];
  #oldest: Instant | undefined;
  /** Bytes of the batch that is being sent. */
  #sending = 0;
  #failure: Error | undefined;
  #ready = Promise.withResolvers<void>();
  #drained = Promise.withResolvers<void>();

  /** `memory`: of lines that are queued or being sent. Reading pauses while it is full. */
  constructor(memory: MemoryShare) {
    this.#memory = memory;
  }

  addBacklog(): Backlog {
    const reached = this.#reached;
    const backlog: Backlog = {
      reached: (time) => {
        const before = reached.get(backlog);
        if (before === undefined || time <= before) return;
        reached.set(backlog, time);
        if (before === this.#watermark) this.#updateWatermark();
      },
      end: () => {
        if (reached.delete(backlog)) this.#updateWatermark();
      },
    };
    reached.set(backlog, NOTHING_READ);
    this.#watermark = NOTHING_READ;
    return backlog;
  }

  /**
   * Returns undefined if the queue has capacity for more lines, otherwise a promise to await. If no queued line can be sent,
   * the backlog with the earliest progress always has capacity: the queue waits for its lines.
   */
  room(backlog?: Backlog): Promise<void> | undefined {
    if (!this.#isFull || this.#failure) return undefined;
    const isLast = backlog !== undefined && this.#reached.get(backlog) === this.#watermark;
    const isAwaited = isLast && this.#sending === 0 && !this.#isComplete(this.#oldest);
    return isAwaited ? undefined : this.#drained.promise;
  }

  push(records: readonly LogRecord[]): void {
    let bytes = 0;
    for (const record of records) {
      this.#records.push(record);
      if (this.#oldest === undefined || record.time < this.#oldest) this.#oldest = record.time;
      bytes += costOf(record.log);
    }
    this.#memory.add(bytes);
    this.#wakeClient();
  }

  /** Makes take() throw this error from now on. */
  fail(failure: Error): void {
    this.#failure ??= failure;
    this.#ready.resolve();
    this.#drained.resolve();
  }

  /** Waits for the next lines, and returns them sorted by time. Frees the memory of the last batch. */
  async take(): Promise<readonly LogRecord[]> {
    this.#memory.add(-this.#sending);
    this.#sending = 0;
    this.#wakeLogs();
    await this.#ready.promise;
    if (!this.#isFull && !this.#failure) await delay(GATHER_MS);
    // oxlint-disable-next-line only-throw-error -- it is an Error
    if (this.#failure) throw this.#failure;
    const records = this.#records.sort((a, b) => compareText(a.time, b.time));
    const rest = records.findIndex(({ time }) => !this.#isComplete(time));
    this.#records = rest === -1 ? [] : records.splice(rest);
    this.#oldest = this.#records[0]?.time;
    this.#sending = records.reduce((sum, { log }) => sum + costOf(log), 0);
    this.#ready = Promise.withResolvers();
    return records;
  }

  /** Whether no backlog can have an older line. */
  #isComplete(time: Instant | undefined): boolean {
    return time !== undefined && (this.#watermark === undefined || time <= this.#watermark);
  }

  #updateWatermark(): void {
    let least: Instant | undefined;
    for (const time of this.#reached.values()) if (least === undefined || time < least) least = time;
    if (least === this.#watermark) return;
    this.#watermark = least;
    this.#wakeClient();
    this.#wakeLogs();
  }

  #wakeClient(): void {
    if (this.#isComplete(this.#oldest)) this.#ready.resolve();
  }

  #wakeLogs(): void {
    this.#drained.resolve();
    this.#drained = Promise.withResolvers();
  }

  get #isFull(): boolean {
    const { held, room } = this.#memory;
    return held > Math.min(MAX_BYTES, room);
  }
}
