// How an export divides time: one stretch after the other, each as long as its lines are likely to fit.
import { earlier, instantOf, later, millisecondsOf } from '../../../instant.ts';
import type { Instant, Order } from '../../../log-store.ts';
import type { Place } from '../reading/ranked-line.ts';

export interface Stretch {
  readonly from: Instant;
  /** Exclusive. */
  readonly to: Instant;
  /** The first line of it, in the order, where lines of the same time are done. */
  readonly begin?: Place;
}

/** What a stretch had. */
export interface Outcome {
  /** The first line that did not fit; undefined when all did. */
  readonly cut: Place | undefined;
  readonly bytes: number;
  /** Bytes that there will be for the next one. */
  readonly room: number;
}

/** Share of the whole time for the first stretch: so that something comes soon, however few lines pass the filters. */
const FIRST_SHARE = 1 / 32;
const MIN_WIDTH_MS = 1_000;
/** After a stretch with next to nothing in it. */
const MAX_GROWTH = 16;
const AIMED_SHARE = 0.75;

export class Stretches {
  readonly #order: Order;
  readonly #whole: Stretch;

  /** `whole`: the time from the first line to the end of the range. */
  constructor(order: Order, whole: Stretch) {
    this.#order = order;
    this.#whole = whole;
  }

  /** `last`: about when the last line was written. */
  first(last: Instant): Stretch {
    const { from, to } = this.#whole;
    const end = earlier(last, to);
    const width = Math.max(MIN_WIDTH_MS, (millisecondsOf(end) - millisecondsOf(from)) * FIRST_SHARE);
    if (this.#order === 'asc') return { from, to: earlier(to, moved(from, width)) };
    return { from: later(from, moved(end, -width)), to };
  }

  /** The stretch behind `done`; undefined when that was the last. */
  next(done: Stretch, { cut, bytes, room }: Outcome): Stretch | undefined {
    const { from, to } = this.#whole;
    const span = cut ? spanOf(this.#order, done, cut) : millisecondsOf(done.to) - millisecondsOf(done.from);
    const growth = Math.min(MAX_GROWTH, (AIMED_SHARE * room) / Math.max(1, bytes));
    const width = Math.max(MIN_WIDTH_MS, span * growth);
    if (this.#order === 'asc') {
      const at = cut?.time ?? done.to;
      const end = earlier(to, moved(at, width));
      return at < to ? { from: at, to: end, ...(cut ? { begin: cut } : {}) } : undefined;
    }
    const at = cut ? earlier(done.to, moved(cut.time, 1)) : done.from;
    const begin = later(from, moved(cut?.time ?? done.from, -width));
    return from < at ? { from: begin, to: at, ...(cut ? { begin: cut } : {}) } : undefined;
  }
}

/** Ms of a stretch up to its cut. */
function spanOf(order: Order, { from, to, begin }: Stretch, cut: Place): number {
  const first = begin?.time ?? (order === 'asc' ? from : to);
  return Math.abs(millisecondsOf(cut.time) - millisecondsOf(first));
}

/** By milliseconds; of what is less, the earlier one. */
function moved(instant: Instant, ms: number): Instant {
  return instantOf(Math.max(0, Math.floor(millisecondsOf(instant) + ms)));
}
