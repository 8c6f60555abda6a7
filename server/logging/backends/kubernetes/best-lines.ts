import type { Instant, Order } from '../../log-store.ts';
import { compareLines, costOf, keptLine, type Place, type RankedLine } from './ranked-line.ts';

/** How many lines may gather before they are sorted out. */
const SLACK = 1_024;

/**
 * The first lines, in an order, of all that are offered: at most so many, and at most so many bytes of them. Lines
 * that were let go can not come back: `refused` tells the first of them.
 */
export class BestLines {
  readonly #limit: number;
  readonly #memory: number;
  readonly #compare: (a: Place, b: Place) => number;
  #lines: RankedLine[] = [];
  #bytes = 0;
  #refused: RankedLine | undefined;
  #overflowed = false;

  constructor(options: { readonly order: Order; readonly limit: number; readonly memory: number }) {
    const { order, limit, memory } = options;
    this.#limit = limit;
    this.#memory = memory;
    this.#compare = order === 'asc' ? compareLines : (a, b) => compareLines(b, a);
  }

  /** Whether lines were let go for want of memory. */
  get overflowed(): boolean {
    return this.#overflowed;
  }

  /** The best of the lines that were let go; what is kept is everything before it. */
  get refused(): Place | undefined {
    return this.#refused;
  }

  /** Copies what it keeps. False: neither this line nor any behind it can be among the first. */
  offer(time: Instant, rank: number, ordinal: number, text: string): boolean {
    if (this.#limit === 0) return false;
    if (this.#refused && this.#compare({ time, rank, ordinal }, this.#refused) >= 0) return false;
    this.#push(keptLine(time, rank, ordinal, text));
    return true;
  }

  /** The lines of another one, whose texts are copied already. */
  merge(other: BestLines): void {
    for (const line of other.#lines) {
      if (!this.#refused || this.#compare(line, this.#refused) < 0) this.#push(line);
    }
    if (other.#refused) this.#refuse(other.#refused);
    this.#overflowed ||= other.#overflowed;
  }

  /** In order. */
  sorted(): readonly RankedLine[] {
    this.#sortOut();
    return this.#lines;
  }

  #push(line: RankedLine): void {
    this.#lines.push(line);
    this.#bytes += costOf(line);
    if (this.#lines.length >= this.#limit + Math.max(this.#limit, SLACK) || this.#bytes > this.#memory) {
      this.#sortOut();
    }
  }

  #sortOut(): void {
    this.#lines.sort(this.#compare);
    let count = Math.min(this.#lines.length, this.#limit);
    if (this.#refused) while (count > 0 && !this.#precedesRefused(count - 1)) count--;
    let bytes = 0;
    for (let index = 0; index < count; index++) bytes += costAt(this.#lines, index);
    if (bytes > this.#memory) {
      this.#overflowed = true;
      // Down to three quarters, so that it is not done for every line.
      while (count > 1 && bytes > this.#memory * 0.75) bytes -= costAt(this.#lines, --count);
    }
    const first = this.#lines[count];
    if (first) this.#refuse(first);
    this.#lines.length = count;
    this.#bytes = bytes;
  }

  #precedesRefused(index: number): boolean {
    const line = this.#lines[index];
    return line !== undefined && this.#refused !== undefined && this.#compare(line, this.#refused) < 0;
  }

  #refuse(line: RankedLine): void {
    if (!this.#refused || this.#compare(line, this.#refused) < 0) this.#refused = line;
  }
}

function costAt(lines: readonly RankedLine[], index: number): number {
  const line = lines[index];
  return line ? costOf(line) : 0;
}
