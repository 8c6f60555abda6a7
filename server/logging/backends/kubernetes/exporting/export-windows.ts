// Divides the time range of an export into windows whose lines probably fit into the memory, by the density of the last
// window.
import { BEGINNING, earlier, instantOf, later, millisecondsOf } from '../../../instant.ts';
import type { Instant, Order } from '../../../log-store.ts';
import { DISORDER_S, shifted } from '../reading/kubelet-time.ts';
import type { LinePosition } from '../reading/log-line.ts';
import type { Window } from '../reading/log-scan.ts';

export interface ExportWindow extends Window {
  /** The first line of the window; undefined: all lines between the times. */
  readonly begin?: LinePosition;
}

export interface WindowResult {
  /** The first line that did not fit. */
  readonly firstDropped: LinePosition | undefined;
  /** Bytes of the lines that fit. */
  readonly bytes: number;
  /** Bytes that the next window may take. */
  readonly room: number;
}

/** Times of the lines of all logs. */
export interface LineTimes {
  readonly first: Instant;
  /** Undefined if unknown. */
  readonly last: Instant | undefined;
  /** End of the time range, exclusive. */
  readonly end: Instant;
}

/** Share of the whole time that the first window has. */
const FIRST_SHARE = 1 / 32;
const MIN_WIDTH_MS = 1_000;
const MAX_GROWTH = 16;
/** Share of the memory that a window is expected to fill. */
const FILLED_SHARE = 0.75;

export class ExportWindows {
  readonly #order: Order;
  readonly #start: Instant;
  readonly #last: Instant;
  readonly #end: Instant;

  constructor(order: Order, { first, last, end }: LineTimes) {
    this.#order = order;
    this.#start = shifted(first, -DISORDER_S);
    this.#last = earlier(last ?? end, end);
    this.#end = end;
  }

  first(): ExportWindow | undefined {
    const width = (millisecondsOf(this.#last) - millisecondsOf(this.#start)) * FIRST_SHARE;
    if (this.#start >= this.#end) return undefined;
    if (this.#order === 'asc')
      return this.#window(this.#start, moved(this.#start, Math.max(MIN_WIDTH_MS, width)));
    return this.#window(moved(this.#last, -Math.max(MIN_WIDTH_MS, width)), this.#end);
  }

  /** Undefined after the last window. */
  next(
    { from, to, begin }: ExportWindow,
    { firstDropped, bytes, room }: WindowResult,
  ): ExportWindow | undefined {
    const [first, last] = this.#order === 'asc' ? [later(from, this.#start), to] : [to, from];
    const span = millisecondsOf(firstDropped?.time ?? last) - millisecondsOf(begin?.time ?? first);
    const growth = Math.min(MAX_GROWTH, (FILLED_SHARE * room) / Math.max(1, bytes));
    const width = Math.max(MIN_WIDTH_MS, Math.abs(span) * growth);
    if (this.#order === 'asc') {
      const at = firstDropped?.time ?? to;
      return at < this.#end ? this.#window(at, moved(at, width), firstDropped) : undefined;
    }
    const at = firstDropped?.time ?? from;
    if (at <= this.#start && !firstDropped) return undefined;
    // The window ends behind the dropped line.
    const end = firstDropped ? earlier(to, moved(at, 1)) : from;
    return this.#window(moved(at, -width), end, firstDropped);
  }

  /** A window at the first line has no start: lines before it exist where a clock was set back. */
  #window(from: Instant, to: Instant, begin?: LinePosition): ExportWindow {
    return {
      from: from <= this.#start ? BEGINNING : from,
      to: earlier(to, this.#end),
      ...(begin ? { begin } : {}),
    };
  }
}

/** By milliseconds, rounded down. */
function moved(instant: Instant, ms: number): Instant {
  return instantOf(Math.max(0, Math.floor(millisecondsOf(instant) + ms)));
}
