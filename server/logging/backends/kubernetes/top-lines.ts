// Collection that keeps the first n log lines in the sort order. At the memory limit, the last lines in the sort
// order are dropped.
import { mergeSort } from '../../../concurrency/merge-sort.ts';
import type { TimeSlices } from '../../../concurrency/time-slicer.ts';
import type { Instant, Order } from '../../store/log-store.ts';
import type { MemoryShare } from './line-memory.ts';
import { comparePositions, costOf, detached, type LinePosition, type LogLine } from './log-line.ts';

interface TopLinesOptions {
  readonly order: Order;
  /** Maximum number of lines. Lines whose position equals that of the last one are kept, too. */
  readonly limit: number;
  readonly memory: MemoryShare;
}

/** Minimum number of lines that are collected above the limit before they are sorted and truncated. */
const SLACK = 128;
/** Share of the memory that remains in use after lines were dropped, so that lines are not dropped at each offer. */
const KEPT_SHARE = 0.75;
const SAMPLE_SIZE = 1_024;

interface StoredLine extends LogLine {
  /** Bytes in memory. */
  readonly bytes: number;
}

/** Invariant: every added line that sorts before the first dropped line is kept. */
export class TopLines {
  readonly #limit: number;
  readonly #memory: MemoryShare;
  readonly #compare: (a: LinePosition, b: LinePosition) => number;
  #lines: StoredLine[] = [];
  #bytes = 0;
  #firstDropped: LinePosition | undefined;
  #outOfMemory = false;

  constructor({ order, limit, memory }: TopLinesOptions) {
    this.#limit = limit;
    this.#memory = memory;
    this.#compare = order === 'asc' ? comparePositions : (a, b) => comparePositions(b, a);
  }

  /** Whether lines were dropped for lack of memory. */
  get outOfMemory(): boolean {
    return this.#outOfMemory;
  }

  /** The first of the dropped lines. */
  get firstDropped(): LinePosition | undefined {
    return this.#firstDropped;
  }

  get size(): number {
    return this.#lines.length;
  }

  /** Whether more lines than `limit` were offered, or lines were dropped for lack of memory. */
  get isFull(): boolean {
    if (this.#lines.length > this.#limit) this.#truncate();
    return this.#firstDropped !== undefined;
  }

  offer(time: Instant, rank: number, ordinal: number, text: string): void {
    const position = { time, rank, ordinal };
    if (this.#limit === 0 || !this.#isWanted(position)) return;
    const bytes = costOf(text);
    this.#lines.push({ time: detached(time), rank, ordinal, text: detached(text), bytes });
    this.#setBytes(this.#bytes + bytes);
    if (this.#lines.length >= this.#limit + Math.max(this.#limit, SLACK)) this.#truncate();
    if (this.#bytes > this.#memory.room) this.#freeMemory();
  }

  /** Sorts the lines, time-sliced. Their memory remains counted. */
  async sorted(slices: TimeSlices): Promise<readonly LogLine[]> {
    this.#lines = await mergeSort(this.#lines, this.#compare, slices);
    this.#dropExcess();
    return this.#lines;
  }

  #isWanted(position: LinePosition): boolean {
    return !this.#firstDropped || this.#compare(position, this.#firstDropped) < 0;
  }

  #truncate(): void {
    this.#lines.sort(this.#compare);
    this.#dropExcess();
  }

  /** Lines with equal positions exist if times are out of order, and no cursor can separate them. */
  #dropExcess(): void {
    const last = this.#lines[this.#limit - 1];
    const isBehind = (line: LinePosition): boolean => last !== undefined && this.#compare(last, line) < 0;
    this.#drop(this.#lines.slice(this.#limit).find(isBehind));
  }

  /** Drops about the last quarter of the lines, but never the first line. The cut is found in a sorted sample. */
  #freeMemory(): void {
    while (this.#bytes > this.#memory.room) {
      const step = Math.ceil(this.#lines.length / SAMPLE_SIZE);
      const sample = this.#lines.filter((_, index) => index % step === 0).sort(this.#compare);
      const [first] = sample;
      const index = Math.floor((sample.length * KEPT_SHARE * this.#memory.room) / this.#bytes);
      const dropped = sample.find((line, at) => at >= index && first && this.#compare(first, line) < 0);
      if (!dropped) return;
      this.#outOfMemory = true;
      this.#drop(dropped);
    }
  }

  /** Drops this line and all lines that sort after it. */
  #drop(line: LogLine | undefined): void {
    if (!line) return;
    this.#firstDropped = { time: line.time, rank: line.rank, ordinal: line.ordinal };
    this.#lines = this.#lines.filter((each) => this.#isWanted(each));
    this.#setBytes(this.#lines.reduce((sum, { bytes }) => sum + bytes, 0));
  }

  #setBytes(bytes: number): void {
    this.#memory.add(bytes - this.#bytes);
    this.#bytes = bytes;
  }
}
