import type { Instant, Order } from '../../../log-store.ts';
import {
  compareLines,
  costOf,
  keptLine,
  keptPlace,
  type Place,
  type RankedLine,
} from '../reading/ranked-line.ts';
import type { HeldBytes } from './held-bytes.ts';

export interface BestLinesOptions {
  readonly order: Order;
  readonly limit: number;
  readonly memory: HeldBytes;
  /** Whether lines are copied at once: when only some of what comes is offered, each would hold on to its block. */
  readonly copies: boolean;
}

/**
 * How many lines may gather before they are sorted out. They hold on to all that was decoded with them: what is gone
 * before the garbage collector has seen it twice is cheap, and four pages at once grew by 125 MB with a thousand.
 */
const SLACK = 128;

/**
 * The first lines, in an order, of all that are offered: at most so many, and at most so many bytes of them. Lines
 * that were let go cannot come back: `refused` tells the first of them.
 */
export class BestLines {
  readonly #limit: number;
  readonly #memory: HeldBytes;
  readonly #copies: boolean;
  readonly #compare: (a: Place, b: Place) => number;
  #lines: RankedLine[] = [];
  #bytes = 0;
  #refused: Place | undefined;
  #overflowed = false;

  constructor({ order, limit, memory, copies }: BestLinesOptions) {
    this.#limit = limit;
    this.#memory = memory;
    this.#copies = copies;
    memory.join();
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

  /** False when the line cannot be among the first. */
  takes(place: Place): boolean {
    return this.#limit > 0 && (!this.#refused || this.#compare(place, this.#refused) < 0);
  }

  offer(time: Instant, rank: number, ordinal: number, text: string): void {
    if (!this.takes({ time, rank, ordinal })) return;
    this.#push(this.#copies ? keptLine(time, rank, ordinal, text) : { time, rank, ordinal, text });
  }

  /** Takes over the lines of another one. */
  merge(other: BestLines): void {
    other.#sortOut();
    const lines = other.#lines;
    other.drop();
    for (const line of lines) {
      if (!this.takes(line)) break;
      this.#push(other.#copies ? line : keptLine(line.time, line.rank, line.ordinal, line.text));
    }
    if (other.#refused) this.#refuse(keptPlace(other.#refused));
    this.#overflowed ||= other.#overflowed;
  }

  /** Holds nothing any more. */
  drop(): void {
    this.#memory.leave(this.#bytes);
    this.#lines = [];
    this.#bytes = 0;
  }

  /** In order. */
  sorted(): readonly RankedLine[] {
    this.#sortOut();
    return this.#lines;
  }

  #push(line: RankedLine): void {
    this.#lines.push(line);
    this.#hold(this.#bytes + costOf(line.text));
    const many = this.#lines.length >= this.#limit + Math.max(this.#limit, SLACK);
    if (many || this.#memory.allowed(this.#bytes) !== undefined) this.#sortOut();
  }

  #sortOut(): void {
    this.#lines.sort(this.#compare);
    let count = Math.min(this.#lines.length, this.#limit);
    if (this.#refused) while (count > 0 && !this.#precedesRefused(count - 1)) count--;
    let bytes = 0;
    for (let index = 0; index < count; index++) bytes += costAt(this.#lines, index);
    this.#hold(bytes);
    const allowed = this.#memory.allowed(bytes);
    if (allowed !== undefined) {
      this.#overflowed = true;
      // Down to three quarters, so that it is not done for every line.
      while (count > 1 && bytes > allowed * 0.75) bytes -= costAt(this.#lines, --count);
      this.#hold(bytes);
    }
    const first = this.#lines[count];
    if (first) this.#refuse(keptPlace(first));
    this.#lines.length = count;
  }

  #hold(bytes: number): void {
    this.#memory.change(bytes - this.#bytes);
    this.#bytes = bytes;
  }

  #precedesRefused(index: number): boolean {
    const line = this.#lines[index];
    return line !== undefined && this.#refused !== undefined && this.#compare(line, this.#refused) < 0;
  }

  #refuse(place: Place): void {
    if (!this.#refused || this.#compare(place, this.#refused) < 0) this.#refused = place;
  }
}

function costAt(lines: readonly RankedLine[], index: number): number {
  const line = lines[index];
  return line ? costOf(line.text) : 0;
}
