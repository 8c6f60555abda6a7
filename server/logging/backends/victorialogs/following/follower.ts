// One who follows: which lines were given, and where it goes on. When it goes on is decided for all of them together,
// in followers.ts.
import type { Deadline } from '../../../deadline.ts';
import { instantOf } from '../../../instant.ts';
import type { Instant, LogRecord } from '../../../log-store.ts';
import type { Queries } from '../requests/queries.ts';
import { NewLines, type NewLinesWanted } from './new-lines.ts';
import { type OldLinesWanted, oldLines } from './old-lines.ts';
import { isTooMuchToRemember, type RememberedLines } from './remembered-lines.ts';

export interface FollowerOptions {
  readonly queries: Queries;
  readonly wanted: NewLinesWanted & OldLinesWanted;
  /** Shared by all. */
  readonly remembered: RememberedLines;
  /** A monotonic clock in ms. */
  readonly now: () => number;
}

/** Lines that come to the store later than this after they were written are not seen by those who follow. */
const LATENESS_MS = 30_000;
/** What is older than that by more than this is read in the way of an export: nothing of it has to be remembered. */
const RECENT_MS = 10_000;
/** How long the store may be unreachable before followers are told. */
export const OUTAGE_MS = 60_000;

export class Follower {
  readonly #options: FollowerOptions;
  /** Everything before it was given. */
  #low: Instant;
  #answeredAt: number;
  #wasAnswered = false;
  /** Undefined as long as nothing has been asked about what others can still come late to. */
  #newLines: NewLines | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#low = options.wanted.start;
    this.#answeredAt = options.now();
  }

  /** Whether there are lines to be given to which no others can come late any more. `time`: ms since the epoch. */
  isBehind(time: number): boolean {
    return !this.#newLines && this.#low < instantOf(time - LATENESS_MS - RECENT_MS);
  }

  /** These lines, in the order of time. After a failure it goes on behind the last that it gave. */
  async *catchUp(asked: number, deadline: Deadline): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { queries, wanted } = this.#options;
    const stretch = { start: this.#low, end: instantOf(asked - LATENESS_MS) };
    for await (const { records, next } of oldLines(queries, wanted, stretch, deadline)) {
      this.#low = next;
      this.#wasAnswered = true;
      if (records.length > 0) yield records;
      this.#answered();
    }
  }

  /** Lines that were not given yet. */
  async *poll(asked: number, deadline: Deadline): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { queries, wanted, remembered } = this.#options;
    this.#newLines ??= new NewLines(queries, { ...wanted, start: this.#low }, remembered);
    for await (const records of this.#newLines.since(this.#low, deadline)) {
      if (records.length > 0) yield records;
      this.#answered();
    }
    this.#answered();
    this.#wasAnswered = true;
    this.#low = instantOf(asked - LATENESS_MS);
  }

  /** Whether it can wait until the store answers again. */
  outlives(error: unknown): boolean {
    return (
      this.#wasAnswered && !isTooMuchToRemember(error) && this.#options.now() - this.#answeredAt <= OUTAGE_MS
    );
  }

  close(): void {
    this.#newLines?.close();
  }

  /** Also when lines were taken: a slow reader is not the store's fault. */
  #answered(): void {
    this.#answeredAt = this.#options.now();
  }
}
