// All followers: each first gets older lines as in an export, then polls the store for new ones; all of them together no
// more often than the store can bear.
import type { Logger } from 'pino';
import { pause } from '../../../../concurrency/pause.ts';
import { instantOf } from '../../../instant.ts';
import type { Call, LogRecord } from '../../../log-store.ts';
import { Deadline } from '../requests/deadline.ts';
import { type Queries } from '../requests/queries.ts';
import { NewLines, type NewLinesWanted } from './new-lines.ts';
import { type OldLinesWanted, oldLines } from './old-lines.ts';
import { isTooMuchToRemember, RememberedLines } from './remembered-lines.ts';

export interface FollowersOptions {
  readonly queries: Queries;
  readonly log: Pick<Logger, 'warn'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Lines; a million when none is given. */
  readonly maxRemembered?: number;
}

const POLL_MS = 200;
/** All together ask about a hundred times a second. */
const POLL_MS_EACH = 10;
/** Lines that come to the store later than this after they were written are not seen by those who follow. */
const LATENESS_MS = 30_000;
/** What is older than that by more than this is read in the way of an export: nothing of it has to be remembered. */
const RECENT_MS = 10_000;
/** Of the last half minute, for all who follow; some hundred bytes each. */
const MAX_REMEMBERED = 1_000_000;
/** How long the store may be unreachable before followers are told; the log is told once in that time. */
const OUTAGE_MS = 60_000;

export class Followers {
  readonly #options: FollowersOptions;
  readonly #remembered: RememberedLines;
  #count = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(options: FollowersOptions) {
    this.#options = options;
    this.#remembered = new RememberedLines(options.maxRemembered ?? MAX_REMEMBERED);
  }

  async *follow(
    wanted: NewLinesWanted & OldLinesWanted,
    { signal }: Pick<Call, 'signal'>,
  ): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { queries, now } = this.#options;
    let answeredAt = now();
    let low = wanted.start;
    let isFirst = true;
    /** Undefined as long as nothing has been asked about what others can still come late to. */
    let lines: NewLines | undefined;
    const call = new Deadline({ signal, timeoutMs: Number.POSITIVE_INFINITY }, now);
    this.#count++;
    try {
      while (!signal.aborted) {
        const asked = now();
        const settled = instantOf(asked - LATENESS_MS);
        try {
          if (!lines && low < instantOf(asked - LATENESS_MS - RECENT_MS)) {
            for await (const { records, next } of oldLines(
              queries,
              wanted,
              { start: low, end: settled },
              call,
            )) {
              // Where it goes on after a failure: all of what is behind was given.
              [low, isFirst] = [next, false];
              if (records.length > 0) yield records;
              answeredAt = now();
            }
            continue;
          }
          // Everything before it was given.
          lines ??= new NewLines(queries, { ...wanted, start: low }, this.#remembered);
          for await (const records of lines.since(low, call)) {
            if (records.length > 0) yield records;
            // A slow reader is not the store's fault.
            answeredAt = now();
          }
          [answeredAt, isFirst] = [now(), false];
          low = settled;
        } catch (error) {
          if (signal.aborted) return;
          if (isFirst || isTooMuchToRemember(error) || now() - answeredAt > OUTAGE_MS) throw error;
          this.#tell(error);
        }
        // Reading the clock, not counting: a slow answer is followed by the next question at once.
        const wait = asked + Math.max(POLL_MS, this.#count * POLL_MS_EACH) - now();
        if (wait > 0) await pause(wait, signal);
      }
    } finally {
      this.#count--;
      lines?.close();
    }
  }

  /** All of them fail together, and each tries again many times. */
  #tell(error: unknown): void {
    const { log, now } = this.#options;
    if (now() - this.#toldAt < OUTAGE_MS) return;
    this.#toldAt = now();
    log.warn({ err: error }, 'the log store does not answer; who follows logs has to wait');
  }
}
