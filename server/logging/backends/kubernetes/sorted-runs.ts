import type { Instant, Order } from '../../log-store.ts';
import { compareLines, costOf, keptLine, type Place, type RankedLine } from './ranked-line.ts';

/** Every so many lines one is looked at, to find where to cut. */
const SAMPLE = 64;
/** What is left of the memory after a cut. */
const KEPT_SHARE = 0.75;

/**
 * As many lines as fit into the memory, the first ones in an order; each log's own are sorted already, so that nothing
 * has to be sorted as a whole. Used for one round of an export.
 */
export class SortedRuns {
  readonly #order: Order;
  readonly #memory: number;
  readonly #copies: boolean;
  /** By rank; ascending, whatever the order. */
  readonly #runs = new Map<number, RankedLine[]>();
  #bytes = 0;
  #cut: Place | undefined;

  /** `copies`: whether few of the lines are kept, so that they must not hold on to the blocks that they come from. */
  constructor(options: { readonly order: Order; readonly memory: number; readonly copies: boolean }) {
    this.#order = options.order;
    this.#memory = options.memory;
    this.#copies = options.copies;
  }

  /** What is kept is everything before it, in the order; undefined when nothing was let go. */
  get cut(): Place | undefined {
    return this.#cut;
  }

  get bytes(): number {
    return this.#bytes;
  }

  offer(time: Instant, rank: number, ordinal: number, text: string): void {
    if (this.#cut && !this.#precedes({ time, rank, ordinal }, this.#cut)) return;
    const line = this.#copies ? keptLine(time, rank, ordinal, text) : { time, rank, ordinal, text };
    let run = this.#runs.get(rank);
    if (!run) this.#runs.set(rank, (run = []));
    let at = run.length;
    // Nearly always the last; times may be off by what lies between taking them and writing.
    for (let before = run[at - 1]; before && compareLines(before, line) > 0; before = run[at - 1]) at--;
    if (at === run.length) run.push(line);
    else run.splice(at, 0, line);
    this.#bytes += costOf(line);
    if (this.#bytes > this.#memory) this.#cutBack();
  }

  /** All that is kept, in order. Takes it away. */
  *drain(): Generator<RankedLine, void, undefined> {
    const heap = new RunHeap(this.#order);
    for (const run of this.#runs.values()) {
      // What comes next has to lie at the end of its run, where it can be taken cheaply.
      if (this.#order === 'asc') run.reverse();
      if (run.length > 0) heap.push(run);
    }
    for (let line = heap.take(); line; line = heap.take()) yield line;
  }

  #cutBack(): void {
    const samples: RankedLine[] = [];
    for (const run of this.#runs.values()) {
      for (const [index, line] of run.entries()) {
        if (index % SAMPLE === 0 || index === run.length - 1) samples.push(line);
      }
    }
    samples.sort((a, b) => (a === b ? 0 : this.#precedes(a, b) ? -1 : 1));
    // The first of all must stay, or there would be no progress.
    const cut = samples[Math.max(1, Math.floor(samples.length * KEPT_SHARE))];
    if (!cut) return;
    this.#cut = { time: cut.time, rank: cut.rank, ordinal: cut.ordinal };
    this.#bytes = 0;
    for (const run of this.#runs.values()) {
      const at = firstNotBefore(run, cut);
      if (this.#order === 'asc') run.length = at;
      else run.splice(0, run[at] && compareLines(run[at], cut) === 0 ? at + 1 : at);
      for (const line of run) this.#bytes += costOf(line);
    }
  }

  #precedes(a: Place, b: Place): boolean {
    const difference = compareLines(a, b);
    return this.#order === 'asc' ? difference < 0 : difference > 0;
  }
}

function firstNotBefore(run: readonly RankedLine[], place: Place): number {
  let [low, high] = [0, run.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const line = run[middle];
    if (line && compareLines(line, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A binary heap of runs by their last line, which is the next one. */
class RunHeap {
  readonly #sign: number;
  readonly #runs: RankedLine[][] = [];

  constructor(order: Order) {
    this.#sign = order === 'asc' ? 1 : -1;
  }

  push(run: RankedLine[]): void {
    this.#runs.push(run);
    for (let at = this.#runs.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#before(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  take(): RankedLine | undefined {
    const [top] = this.#runs;
    const line = top?.pop();
    if (top?.length === 0) {
      const last = this.#runs.pop();
      if (last && last !== top) this.#runs[0] = last;
    }
    this.#sink();
    return line;
  }

  #sink(): void {
    for (let at = 0; ; ) {
      let first = at;
      if (this.#before(2 * at + 1, first)) first = 2 * at + 1;
      if (this.#before(2 * at + 2, first)) first = 2 * at + 2;
      if (first === at) return;
      this.#swap(at, first);
      at = first;
    }
  }

  #before(a: number, b: number): boolean {
    const [one, other] = [this.#runs[a]?.at(-1), this.#runs[b]?.at(-1)];
    return one !== undefined && other !== undefined && this.#sign * compareLines(one, other) < 0;
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#runs[a], this.#runs[b]];
    if (!one || !other) return;
    this.#runs[a] = other;
    this.#runs[b] = one;
  }
}
