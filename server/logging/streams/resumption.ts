// Where a live tail goes on for an EventSource that comes back. It says by the ids of its events how far it is: with each
// line, at its beginning, and now and then while it has nothing to show.
import type { IncomingHttpHeaders } from 'node:http';
import { newInvalidParameter } from '../../../apis/meta/v1/errors.ts';
import { earlier, instantOf, isAskable, later, millisecondsOf } from '../instant.ts';
import type { Instant, LogRecord } from '../log-store.ts';

/** Both in ms. */
export interface TailClocks {
  /** Since the epoch. */
  readonly now: () => number;
  /** Of the time that passes: lines of others must not be passed over where this machine's clock jumps ahead. */
  readonly monotonic: () => number;
}

/** Longer than any store takes to notice that it has lost touch, and to catch up. */
const HEALING_MS = 600_000;

/**
 * Undefined for a client that has seen nothing yet. Throws BadRequest for an id that is not one of our events'.
 * `overlapMs`: lines come roughly in order only, and one that is older than an id may not have reached the store then.
 * `now`: milliseconds since the epoch.
 */
export function resumedFrom(
  { 'last-event-id': id }: IncomingHttpHeaders,
  overlapMs: number,
  now: number,
): Instant | undefined {
  if (id === undefined || id === '') return undefined;
  if (isAskable(id)) {
    const reached = millisecondsOf(id) - overlapMs;
    // By a clock that is ahead of this one, or was until it was set back: nothing would be shown until then.
    return instantOf(Math.max(0, reached > now ? now - overlapMs : reached));
  }
  const message = 'is not the id of an event of a live tail; leave it out to begin anew';
  throw newInvalidParameter('Last-Event-ID', message);
}

/**
 * How far a live tail is. Stores do not tell what they have looked at without finding anything; but they read at least as
 * fast as lines are written, or nobody could follow them.
 */
export class TailPosition {
  readonly #overlapMs: number;
  readonly #clocks: TailClocks;
  /** Ms, as all times here. */
  readonly #start: number;
  /** Everything before it was shown. */
  #reached: number;
  /** When the store was asked to go on from there, by the monotonic clock; undefined while lines are on their way to the reader. */
  #since: number | undefined;
  /** `#reached` as the reader knows it. */
  #told: number;

  /** `overlapMs`: as for resumedFrom(). */
  constructor(start: Instant, overlapMs: number, clocks: TailClocks) {
    this.#overlapMs = overlapMs;
    this.#clocks = clocks;
    this.#start = millisecondsOf(start);
    this.#reached = this.#start;
    this.#since = clocks.monotonic();
    this.#told = this.#reached;
  }

  /** From which a reader goes on that has seen everything so far. */
  get id(): Instant {
    return instantOf(this.#told + this.#overlapMs);
  }

  /**
   * Those of lines that are sent now. A clock that is ahead must not hide what is written elsewhere meanwhile. Nobody goes
   * on from before the beginning: a tail that breaks again and again would go back by the overlap each time.
   */
  ids(): (record: Pick<LogRecord, 'time'>) => Instant {
    const now = instantOf(this.#clocks.now());
    const first = instantOf(this.#start + this.#overlapMs);
    return ({ time }) => later(first, earlier(time, now));
  }

  /** `id`, if it has become later without a line that says so. */
  moved(): Instant | undefined {
    const { now, monotonic } = this.#clocks;
    const passed = this.#since === undefined ? 0 : monotonic() - this.#since;
    // Instants have no less than milliseconds.
    const reached = Math.min(this.#reached + Math.floor(passed), now() - HEALING_MS);
    if (reached <= this.#told) return undefined;
    this.#told = reached;
    return this.id;
  }

  /** Lines have come from the store. */
  taken(): void {
    this.#since = undefined;
  }

  /** They have been written. */
  shown(records: readonly LogRecord[]): void {
    const { now, monotonic } = this.#clocks;
    this.#since = monotonic();
    const last = records.at(-1);
    if (!last) return;
    const seen = Math.min(millisecondsOf(last.time), now()) - this.#overlapMs;
    this.#reached = Math.max(this.#start, seen);
    this.#told = this.#reached;
  }
}
