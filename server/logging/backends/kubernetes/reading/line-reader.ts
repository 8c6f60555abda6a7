// Splits the response of a pod log request into lines with their times and ordinals. It decodes whole chunks, which is
// much cheaper than line by line, and truncates long lines.
import { StringDecoder } from 'node:string_decoder';
import type { TimeSlicer } from '../../../../concurrency/time-slicer.ts';
import type { Instant } from '../../../log-store.ts';
import { DISORDER_S, parseLineHead, shifted } from './kubelet-time.ts';
import { detached } from './log-line.ts';
import type { MemoryShare } from './memory-budget.ts';

/**
 * `ordinal`: number of earlier lines of the log with the same time; both together identify a line. `time` and `text` are
 * slices that keep a whole chunk in memory: detach what is kept. The next line waits for a returned promise.
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

const MAX_LINE_LENGTH = 1 << 20;
const MAX_MESSAGE_LENGTH = 300;

export interface LineReaderOptions {
  readonly onLine: OnLine;
  readonly extent: Extent;
  readonly slicer: TimeSlicer;
  /** Accounts for an incomplete line, which is truncated earlier when the room is used up. */
  readonly memory?: Pick<MemoryShare, 'room' | 'add'> | undefined;
}

export class LineReader {
  readonly #options: LineReaderOptions;
  readonly #decoder = new StringDecoder('utf8');
  /** The text of the kubelet where a line was expected. */
  message: string | undefined;
  /** The lines that are being read. A local variable would keep them in memory while its function waits. */
  #block = '';
  #from = 0;
  /** The incomplete line at the end of the last chunk. */
  #rest = '';
  /** Whether the incomplete line was truncated. */
  #isSkipping = false;
  #ordinal = 0;
  #pending: Promise<void> | undefined;

  constructor(options: LineReaderOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    this.#options.extent.bytes += chunk.length;
    const text = this.#decoder.write(chunk);
    const end = text.lastIndexOf('\n') + 1;
    if (end === 0) {
      if (!this.#isSkipping) this.#keep(this.#rest + text);
      return;
    }
    this.#block = this.#rest + text.slice(this.#isSkipping ? text.indexOf('\n') : 0, end);
    this.#from = 0;
    this.#isSkipping = false;
    this.#keep(detached(text.slice(end)));
  }

  /**
   * Reads on in the chunk, up to lines of `until`. False when the caller has to await `pending()` and a slice before it
   * calls again: one line can take as long as thousands of others.
   */
  read(until: Instant | undefined): boolean {
    const { extent, slicer } = this.#options;
    const end = until === undefined ? undefined : shifted(until, DISORDER_S);
    while (this.#from < this.#block.length && !extent.hasPassed) {
      this.#readLine(end);
      if (this.#pending || slicer.spent) return false;
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
    this.#block = this.#rest + this.#decoder.end();
    this.#from = 0;
    this.#keep('');
    if (this.#block === '') return;
    if (complete) this.#readLine(undefined);
    else
      this.message ??= parseLineHead(this.#block, 0)
        ? 'the response ended within a line'
        : this.#messageAt(0);
    this.#block = '';
    await this.pending();
  }

  #keep(rest: string): void {
    const { memory, extent } = this.#options;
    memory?.add(-this.#rest.length);
    const max = Math.min(MAX_LINE_LENGTH, Math.floor(memory?.room ?? MAX_LINE_LENGTH));
    this.#isSkipping = rest.length > max;
    if (this.#isSkipping) extent.truncated = true;
    this.#rest = this.#isSkipping ? truncated(rest, max) : rest;
    memory?.add(this.#rest.length);
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
    return detached(line);
  }
}

/** Never splits a surrogate pair. */
function truncated(text: string, length: number): string {
  const isPair = (text.codePointAt(length - 1) ?? 0) > 0xffff;
  return text.slice(0, isPair ? length - 1 : length);
}
