// Splits the response of a pod log request into lines with their times and ordinals.
import type { Turns } from '../../../../concurrency/turns.ts';
import type { Instant } from '../../../log-store.ts';
import { BlockDecoder } from './block-decoder.ts';
import { DISORDER_S, parseLineHead, shifted } from './kubelet-time.ts';
import { detached } from './log-line.ts';
import type { MemoryShare } from './memory-budget.ts';

/**
 * `ordinal`: number of earlier lines of the log with the same time; both together identify a line. `time` and `text` are
 * slices that keep a whole block in memory: detach what is kept. The next line waits for a returned promise.
 */
export type OnLine = (time: Instant, text: string, ordinal: number) => void | Promise<void>;

/** What was read of a log. */
export interface Extent {
  bytes: number;
  lines: number;
  /** Times of the first and the last line. */
  first: Instant | undefined;
  last: Instant;
  /** Whether a line was too long and is truncated. */
  truncated: boolean;
  /** Whether reading stopped because all further lines are later than wanted. */
  hasPassed: boolean;
}

export function newExtent(): Extent {
  return { bytes: 0, lines: 0, first: undefined, last: '', truncated: false, hasPassed: false };
}

const MAX_LINE_BYTES = 1 << 20;
const MAX_MESSAGE_LENGTH = 300;

export interface LineReaderOptions {
  readonly onLine: OnLine;
  readonly extent: Extent;
  readonly turns: Turns;
  /** For an incomplete line. */
  readonly memory?: MemoryShare | undefined;
}

export class LineReader {
  readonly #options: LineReaderOptions;
  readonly #decoder: BlockDecoder;
  /** The text of the kubelet where a line was expected. */
  message: string | undefined;
  /** The block that is being read. A local variable would keep it in memory while its function waits. */
  #block = '';
  #from = 0;
  #ordinal = 0;
  #pending: Promise<void> | undefined;

  constructor(options: LineReaderOptions) {
    this.#options = options;
    this.#decoder = new BlockDecoder(MAX_LINE_BYTES, options.memory);
  }

  push(chunk: Buffer): void {
    const { extent } = this.#options;
    extent.bytes += chunk.length;
    this.#block = this.#decoder.push(chunk);
    this.#from = 0;
    extent.truncated = this.#decoder.truncated;
  }

  /**
   * Reads on in the block, up to lines of `until`. False when the caller has to await `pending()` and a turn before it
   * calls again: one line can take as long as thousands of others.
   */
  read(until: Instant | undefined): boolean {
    const { extent, turns } = this.#options;
    const end = until === undefined ? undefined : shifted(until, DISORDER_S);
    while (this.#from < this.#block.length && !extent.hasPassed) {
      this.#readLine(end);
      if (this.#pending || turns.spent) return false;
    }
    this.#block = '';
    extent.last = detached(extent.last);
    return true;
  }

  async pending(): Promise<void> {
    try {
      await this.#pending;
    } finally {
      this.#pending = undefined;
    }
  }

  /** The text behind the last newline. `complete`: whether it is a line, or the response ended too early. */
  async readRest(complete: boolean): Promise<void> {
    this.#block = this.#decoder.rest();
    this.#from = 0;
    if (this.#block === '') return;
    if (complete) this.#readLine(undefined);
    else
      this.message ??= parseLineHead(this.#block, 0)
        ? 'the response ended within a line'
        : this.#messageAt(0);
    this.#block = '';
    await this.pending();
  }

  #readLine(end: Instant | undefined): void {
    const { extent, onLine } = this.#options;
    const [block, from] = [this.#block, this.#from];
    const newline = block.indexOf('\n', from);
    const to = newline === -1 ? block.length : newline;
    this.#from = to + 1;
    const head = parseLineHead(block, from);
    if (!head) {
      this.message ??= this.#messageAt(from);
      return;
    }
    const { time, textStart } = head;
    if (end !== undefined && time >= end) {
      extent.hasPassed = true;
      return;
    }
    this.#ordinal = time === extent.last ? this.#ordinal + 1 : 0;
    extent.lines++;
    extent.first ??= detached(time);
    extent.last = time;
    this.#pending = onLine(time, block.slice(textStart, to), this.#ordinal) ?? undefined;
  }

  #messageAt(from: number): string {
    const [line = ''] = this.#block.slice(from, from + MAX_MESSAGE_LENGTH).split('\n', 1);
    return Buffer.from(line).toString();
  }
}
