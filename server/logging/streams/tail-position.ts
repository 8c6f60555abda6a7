// Position of a live tail in time. An EventSource client sends the position as `Last-Event-ID` to resume after a
// disconnect.
import type { IncomingHttpHeaders } from 'node:http';
import { newInvalidParameter } from '../../../apis/meta/v1/errors.ts';
import { earlier, instantOf, isQueryable, later, millisecondsOf } from '../store/instant.ts';
import type { Instant, LogRecord } from '../store/log-store.ts';

/** Clocks of a live tail, both in ms. */
export interface TailClocks {
  /** Since the epoch. */
  readonly now: () => number;
  /** Unaffected by changes of the wall clock, which must not skip lines. */
  readonly monotonic: () => number;
}

/** Distance in ms between the clock and the id of an idle tail. A store detects an outage and catches up in less time. */
const CATCH_UP_MS = 600_000;

/**
 * Start of a resumed tail; undefined for a client without `Last-Event-ID`. Throws BadRequest for an invalid id.
 * `overlapMs`: lines reach a store roughly in order, so a line older than the id may have arrived after it.
 * `now`: milliseconds since the epoch.
 */
export function resumedFrom(
  { 'last-event-id': id }: IncomingHttpHeaders,
  overlapMs: number,
  now: number,
): Instant | undefined {
  if (id === undefined || id === '') return undefined;
  if (isQueryable(id)) {
    const reached = millisecondsOf(id) - overlapMs;
    // An id in the future comes from a clock that is ahead of this one: no line would be sent until then.
    return instantOf(Math.max(0, reached > now ? now - overlapMs : reached));
  }
  const message = 'is not the id of an event of a live tail; omit it to start over';
  throw newInvalidParameter('Last-Event-ID', message);
}

/**
 * The position of a live tail. Stores do not report how far they have searched without a match, but they read at least as
 * fast as lines are written. All times are in ms since the epoch.
 */
export class TailPosition {
  readonly #overlapMs: number;
  readonly #clocks: TailClocks;
  readonly #start: number;
  /** All earlier lines were sent. */
  #reached: number;
  /** Monotonic time at which the store continued from `#reached`. */
  #since: number;
  /** The last value of `#reached` that was sent to the reader. */
  #sent: number;

  /** `overlapMs`: as for resumedFrom(). */
  constructor(start: Instant, overlapMs: number, clocks: TailClocks) {
    this.#overlapMs = overlapMs;
    this.#clocks = clocks;
    this.#start = millisecondsOf(start);
    this.#reached = this.#start;
    this.#since = clocks.monotonic();
    this.#sent = this.#reached;
  }

  /** The id with which a reader of all lines so far resumes. */
  get id(): Instant {
    return instantOf(this.#sent + this.#overlapMs);
  }

  /**
   * Ids for lines that are sent now. An id is not after the current time, because the clock of a node may be ahead. It is
   * not before the beginning, because a tail that breaks repeatedly would go back by the overlap each time.
   */
  ids(): (record: Pick<LogRecord, 'time'>) => Instant {
    const now = instantOf(this.#clocks.now());
    const first = instantOf(this.#start + this.#overlapMs);
    return ({ time }) => later(first, earlier(time, now));
  }

  /** The id of an idle tail; undefined if it has not advanced. */
  advance(): Instant | undefined {
    const { now, monotonic } = this.#clocks;
    const reached = Math.min(this.#reached + Math.floor(monotonic() - this.#since), now() - CATCH_UP_MS);
    if (reached <= this.#sent) return undefined;
    this.#sent = reached;
    return this.id;
  }

  /** The lines were written to the reader. */
  written(records: readonly LogRecord[]): void {
    const { now, monotonic } = this.#clocks;
    this.#since = monotonic();
    const last = records.at(-1);
    if (!last) return;
    const seen = Math.min(millisecondsOf(last.time), now()) - this.#overlapMs;
    this.#reached = Math.max(this.#start, seen);
    this.#sent = this.#reached;
  }
}
