// Parses pod log responses into lines with timestamps. Lines above 1 MiB are truncated.
import { StringDecoder } from 'node:string_decoder';
import type { TimeSlices } from '../../../concurrency/time-slicer.ts';
import { millisecondsOf } from '../../store/instant.ts';
import type { Instant } from '../../store/log-store.ts';
import { DISORDER_S, type LineHead, parseLineHead, parseUncertainHead, shifted } from './kubelet-time.ts';
import type { MemoryShare } from './line-memory.ts';
import { detached } from './log-line.ts';
import { UntimedText } from './untimed-text.ts';

/**
 * Callback for a line. `ordinal`: number of earlier lines of the log with the same time; time and ordinal identify a
 * line. `time` and `text` are slices of a chunk: copy them with detached() before storing them, or the chunk stays in
 * memory. If the callback returns a promise, the next line is passed after it resolves.
 */
export type OnLine = (time: Instant, text: string, ordinal: number) => void | Promise<void>;

/** The part of a log that was read. */
export interface Extent {
  bytes: number;
  lines: number;
  /** Time of the first line; undefined before it. */
  first: Instant | undefined;
  /** Time of the last line; empty before the first line. */
  last: Instant;
  /** Whether a line was truncated. */
  truncated: boolean;
  /** Whether reading stopped at the `until` of the request, so later lines were not read. */
  hasPassed: boolean;
}

export function newExtent(): Extent {
  return { bytes: 0, lines: 0, first: undefined, last: '', truncated: false, hasPassed: false };
}

const MAX_LINE_LENGTH = 1 << 20;

/** The text after the last newline of a response. */
export interface OpenLine {
  readonly time: Instant;
  readonly ordinal: number;
  readonly text: string;
}

interface LineReaderOptions {
  readonly onLine: OnLine;
  readonly extent: Extent;
  /**
   * Start of the range; undefined for a whole log. Before it, the response can have texts without a time: `sinceTime` omits
   * the parts of a line one by one (partial lines of the CRI log format), and the kubelet writes a time only at the start
   * of a line. The application can have written a time there, so the first line in the range does not end the
   * reading, however late it is.
   */
  readonly since: Instant | undefined;
  /** Milliseconds since the epoch. A time in the future, from a clock that is ahead, does not end the reading. */
  readonly wallClock: () => number;
  readonly slices: Pick<TimeSlices, 'spent'>;
  /**
   * Accounts for the memory of an incomplete line. The line is truncated at `room` characters if that is below 1 MiB.
   */
  readonly memory?: Pick<MemoryShare, 'room' | 'add'> | undefined;
}

export class LineReader {
  readonly #options: LineReaderOptions;
  /** Decodes whole chunks, because decoding single lines takes much longer. */
  readonly #decoder = new StringDecoder('utf8');
  /**
   * Text without a time: the first one in the range, where only an error message of the kubelet has none, or the last text
   * of a response before the range.
   */
  untimed: UntimedText | undefined;
  /** Whether a line of the range was read. */
  hasBegun: boolean;
  /** Decoded complete lines. A field, because a local variable would keep them in memory while its function awaits. */
  #block = '';
  #from = 0;
  /** Incomplete line at the end of the last chunk. */
  #rest = '';
  /** Whether the incomplete line was truncated: text up to the next newline is dropped. */
  #isSkipping = false;
  #ordinal = 0;
  /** Number of characters that were removed from an incomplete text without a time. */
  #omitted = 0;
  #pending: Promise<void> | undefined;

  constructor(options: LineReaderOptions) {
    this.#options = options;
    this.hasBegun = options.since === undefined;
  }

  /** Decodes a chunk. Call read() until it returns true before the next chunk. */
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
   * Passes the lines of the chunk to `onLine`, up to the time `until`. Returns false if it stopped early: the caller
   * awaits pending(), yields to the event loop, and calls read() again. A single line can take long to filter.
   */
  read(until: Instant | undefined): boolean {
    const { extent, slices } = this.#options;
    const end = until === undefined ? undefined : shifted(until, DISORDER_S);
    while (this.#from < this.#block.length && !extent.hasPassed) {
      this.#readLine(end);
      if (this.#pending || slices.spent) return false;
    }
    this.#block = '';
    extent.last = detached(extent.last);
    return true;
  }

  /** Waits for the promise that `onLine` returned last. */
  async pending(): Promise<void> {
    try {
      await this.#pending;
    } finally {
      this.#pending = undefined;
    }
  }

  /** Passes the text after the last newline to `onLine`. */
  async readRest(): Promise<void> {
    this.#takeRest();
    if (this.#block !== '') this.#readLine(undefined);
    this.#block = '';
    await this.pending();
  }

  /** Returns the text after the last newline, unless it is at `until` or later. Sets `untimed` if it has no time. */
  openLine(until: Instant | undefined): OpenLine | undefined {
    this.#takeRest();
    const block = this.#block;
    this.#block = '';
    if (block === '') return undefined;
    const head = this.#takeHead(block, 0, block.length);
    if (!head) return undefined;
    const { extent } = this.#options;
    const time = detached(head.time);
    extent.hasPassed = until !== undefined && time >= shifted(until, DISORDER_S);
    if (extent.hasPassed) return undefined;
    const ordinal = time === extent.last ? this.#ordinal + 1 : 0;
    return { time, ordinal, text: detached(block.slice(head.textStart)) };
  }

  /** Returns the head of the line up to `to`. Sets `untimed` if it has none. */
  #takeHead(block: string, from: number, to: number): LineHead | undefined {
    const head = this.#headOf(block, from);
    if (!this.hasBegun) this.untimed = undefined;
    if (!head) this.untimed ??= new UntimedText(block.slice(from, to), this.#omitted);
    this.#omitted = 0;
    return head;
  }

  #headOf(block: string, from: number): LineHead | undefined {
    return this.hasBegun ? parseLineHead(block, from) : parseUncertainHead(block, from);
  }

  #takeRest(): void {
    this.#block = this.#rest + this.#decoder.end();
    this.#from = 0;
    this.#keep('');
  }

  #keep(rest: string): void {
    const { memory, extent } = this.#options;
    memory?.add(-this.#rest.length);
    const max = Math.min(MAX_LINE_LENGTH, Math.floor(memory?.room ?? MAX_LINE_LENGTH));
    this.#rest = rest;
    this.#isSkipping = false;
    if (rest.length > max) {
      this.#isSkipping = this.#headOf(rest, 0) !== undefined;
      extent.truncated ||= this.#isSkipping;
      this.#rest = this.#isSkipping ? rest.slice(0, max) : UntimedText.shortened(rest);
      if (!this.#isSkipping) this.#omitted += rest.length - this.#rest.length;
    }
    memory?.add(this.#rest.length);
  }

  #readLine(end: Instant | undefined): void {
    const { extent, onLine, since = '' } = this.#options;
    const [block, from] = [this.#block, this.#from];
    const newline = block.indexOf('\n', from);
    const to = newline === -1 ? block.length : newline;
    this.#from = to + 1;
    const head = this.#takeHead(block, from, to + 1);
    if (!head) return;
    const { time, textStart } = head;
    const isCertain = this.hasBegun;
    this.hasBegun ||= time >= since;
    if (end !== undefined && time >= end) {
      extent.hasPassed = isCertain && millisecondsOf(time) <= this.#options.wallClock();
      return;
    }
    this.#ordinal = time === extent.last ? this.#ordinal + 1 : 0;
    extent.lines++;
    extent.first ??= detached(time);
    extent.last = time;
    this.#pending = onLine(time, block.slice(textStart, to), this.#ordinal) ?? undefined;
  }
}
