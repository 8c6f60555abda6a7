import { earlier, instantOf, later, millisecondsOf } from '../../../instant.ts';
import type { Order, Selection } from '../../../log-store.ts';
import type { Position } from '../searches/position.ts';

type Range = Selection['range'];

/** The part of a range that can hold what is sought: all of it, or what lies at a position and behind it in the order. */
export class Reach {
  readonly range: Range;
  readonly #order: Order;
  /** In ms since the epoch. */
  readonly #start: number;
  readonly #end: number;

  constructor(range: Range, order: Order, position: Position | undefined) {
    this.range = position ? ahead(range, order, position) : range;
    this.#order = order;
    this.#start = millisecondsOf(this.range.start);
    this.#end = millisecondsOf(this.range.end);
  }

  get lengthMs(): number {
    return this.#end - this.#start;
  }

  /** So many ms of it, from where the order begins. */
  first(ms: number): Range {
    const { start, end } = this.range;
    return this.#order === 'asc'
      ? { start, end: earlier(end, instantOf(this.#start + ms)) }
      : { start: later(start, instantOf(this.#end - ms)), end };
  }

  /** How far it is from where the order begins to a time within it, both in ms. */
  distanceTo(time: number): number {
    return this.#order === 'asc' ? time - this.#start : this.#end - time;
  }
}

/** A millisecond more, as some indices know no less. */
function ahead({ start, end }: Range, order: Order, { time }: Position): Range {
  const milliseconds = Number(time / 1_000_000n);
  return order === 'asc'
    ? { start: later(start, instantOf(milliseconds)), end }
    : { start, end: earlier(end, instantOf(milliseconds + 1)) };
}
