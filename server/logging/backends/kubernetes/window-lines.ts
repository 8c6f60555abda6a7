// Collection of the lines of one export window, stored as blocks of bytes. Blocks take a third of the memory of line
// objects. If the memory limit is reached, the lines that sort last are dropped. Invariant: every line that sorts
// before the first dropped line is stored.
import { mergeSort } from '../../../concurrency/merge-sort.ts';
import type { TimeSlicer } from '../../../concurrency/time-slicer.ts';
import type { Order } from '../../log-store.ts';
import { comparePositions, detached, type LinePosition, type LogLine } from './log-line.ts';
import type { LineSink } from './log-scan.ts';
import type { MemoryShare } from './memory-budget.ts';

export interface WindowLinesOptions {
  readonly order: Order;
  readonly memory: MemoryShare;
  /** Maximum bytes, in addition to the limit of `memory`. */
  readonly maxBytes: number;
}

/** Consecutive lines of one log. */
interface Block {
  readonly rank: number;
  /** The first line in the requested order. */
  readonly first: LinePosition;
  /** The lines, each as time, ordinal, space, text and newline. */
  readonly bytes: Buffer;
}

const MAX_BLOCK_LENGTH = 8 << 10;
/** Bytes of a block in memory besides its lines. */
const BLOCK_OVERHEAD = 400;
/** Share of the memory that remains in use after blocks were dropped. */
const KEPT_SHARE = 0.75;
/** Minimum number of lines that are decoded before they are sorted. */
const DECODED_LINES = 4_000;
const TIME_LENGTH = 30;

export class WindowLines {
  readonly #options: WindowLinesOptions;
  readonly #compare: (a: LinePosition, b: LinePosition) => number;
  #blocks: Block[] = [];
  #bytes = 0;
  #firstDropped: LinePosition | undefined;

  constructor(options: WindowLinesOptions) {
    this.#options = options;
    this.#compare = options.order === 'asc' ? comparePositions : (a, b) => comparePositions(b, a);
  }

  get bytes(): number {
    return this.#bytes;
  }

  get firstDropped(): LinePosition | undefined {
    return this.#firstDropped;
  }

  /** Returns the sink for the log with this rank. It ignores lines that sort before `begin`. */
  sinkFor(rank: number, begin: LinePosition | undefined): LineSink {
    let [lines, length] = [[] as string[], 0];
    let first: LinePosition | undefined;
    const flush = (): void => {
      if (first)
        this.#add({
          rank,
          first: { ...first, time: detached(first.time) },
          bytes: Buffer.from(lines.join('')),
        });
      [lines, length, first] = [[], 0, undefined];
    };
    return {
      onLine: (time, text, ordinal) => {
        const position = { time, rank, ordinal };
        if (begin && this.#compare(position, begin) < 0) return;
        if (!this.#isWanted(position)) return;
        lines.push(time, String(ordinal), ' ', text, '\n');
        length += TIME_LENGTH + text.length;
        if (!first || this.#compare(position, first) < 0) first = position;
        if (length > MAX_BLOCK_LENGTH) flush();
      },
      flush,
      // In ascending order, lines after the first dropped one cannot get into the window.
      until: () => (this.#options.order === 'asc' ? this.#firstDropped?.time : undefined),
    };
  }

  /** Returns the lines in order, in batches, and removes them. Time-sliced. The memory of a batch is freed after it. */
  async *sorted(slicer: TimeSlicer): AsyncGenerator<readonly LogLine[], void, undefined> {
    const blocks = this.#sortedBlocks();
    let decoded: LogLine[] = [];
    let bytes = 0;
    for (let next = blocks.shift(), added = 0; next; ) {
      const lines = linesOf(next).filter((line) => this.#isWanted(line));
      for (const line of lines) decoded.push(line);
      added += lines.length;
      bytes += costOf(next);
      next = blocks.shift();
      // At least as many new lines as old ones, so each line is sorted about twice.
      if (next && added < Math.max(DECODED_LINES, decoded.length - added)) continue;
      decoded = await mergeSort(decoded, this.#compare, slicer);
      const start = next?.first;
      const end = start ? decoded.findIndex((line) => this.#compare(line, start) >= 0) : -1;
      yield decoded.splice(0, end === -1 ? decoded.length : end);
      this.#addBytes(-bytes);
      [added, bytes] = [0, 0];
    }
  }

  #isWanted(position: LinePosition): boolean {
    return !this.#firstDropped || this.#compare(position, this.#firstDropped) < 0;
  }

  #add(block: Block): void {
    if (!this.#isWanted(block.first)) return;
    this.#blocks.push(block);
    this.#addBytes(costOf(block));
    if (this.#bytes > this.#room) this.#dropBlocks();
  }

  get #room(): number {
    return Math.min(this.#options.maxBytes, this.#options.memory.room);
  }

  /**
   * Drops the last blocks, but never the first line. Lines with equal positions exist if a clock was set back. They are
   * not separated.
   */
  #dropBlocks(): void {
    const blocks = this.#sortedBlocks();
    const [begin] = blocks;
    let kept = 0;
    const dropped = blocks.find((block) => {
      kept += costOf(block);
      return kept > KEPT_SHARE * this.#room && begin && this.#compare(begin.first, block.first) < 0;
    });
    if (!dropped) return;
    this.#firstDropped = dropped.first;
    this.#blocks = blocks.filter((block) => this.#isWanted(block.first));
    this.#addBytes(this.#blocks.reduce((sum, block) => sum + costOf(block), -this.#bytes));
  }

  #sortedBlocks(): Block[] {
    return this.#blocks.sort((a, b) => this.#compare(a.first, b.first));
  }

  #addBytes(bytes: number): void {
    this.#options.memory.add(bytes);
    this.#bytes += bytes;
  }
}

function costOf({ bytes }: Block): number {
  return bytes.length + BLOCK_OVERHEAD;
}

function linesOf({ bytes, rank }: Block): LogLine[] {
  return bytes
    .toString('utf8', 0, bytes.length - 1)
    .split('\n')
    .map((line) => {
      const end = line.indexOf(' ', TIME_LENGTH);
      const ordinal = Number(line.slice(TIME_LENGTH, end));
      return { time: line.slice(0, TIME_LENGTH), rank, ordinal, text: line.slice(end + 1) };
    });
}
