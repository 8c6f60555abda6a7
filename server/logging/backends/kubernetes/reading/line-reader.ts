// Takes blocks of a log apart into lines, each with its time and its place among those of the same time.
import type { Turns } from '../../../../concurrency/turns.ts';
import type { Instant } from '../../../log-store.ts';
import type { BlockDecoder } from './block-decoder.ts';
import { DISORDER_S, shifted, timeAt } from './kubelet-time.ts';
import { keptTime } from './ranked-line.ts';

/**
 * `ordinal`: how many lines of the same time stand before it, in this log; together with the time it names the line.
 * `time` and `text` may hold on to a whole block of lines: copy what is kept. The next line comes when the promise, where
 * there is one, has resolved.
 */
export type OnLine = (time: Instant, text: string, ordinal: number) => void | Promise<void>;

export interface Extent {
  bytes: number;
  lines: number;
  /** Of the first line that came. */
  first: Instant | undefined;
  /** Lines that were too long to be kept whole. */
  cutLines: number;
  /** Whether it was not read on because everything that follows is behind `until`. */
  hasPassed: boolean;
}

export function newExtent(): Extent {
  return { bytes: 0, lines: 0, first: undefined, cutLines: 0, hasPassed: false };
}

/** Tells `onLine` of each line of the blocks that it takes. */
export class LineReader {
  readonly #onLine: OnLine;
  readonly #extent: Extent;
  /** The kubelet's message in place of a line. */
  remark: string | undefined;
  /** What whoever takes the lines has thrown: no failure of the kubelet. */
  fault: { readonly error: unknown } | undefined;
  /** Whether everything that follows is behind `until`. */
  hasPassed = false;
  readonly #turns: Turns;
  /** Lines that wait to be read, from a place on. */
  #block = '';
  #from = 0;
  #time: Instant = '';
  #ordinal = 0;
  /** The last line, where it takes a while. */
  #taking: Promise<void> | undefined;

  constructor(onLine: OnLine, extent: Extent, turns: Turns) {
    this.#onLine = onLine;
    this.#extent = extent;
    this.#turns = turns;
  }

  /** A function that waits must not refer to what is decoded here, or each log being read would hold on to it. */
  take(decoder: BlockDecoder, chunk: Buffer): void {
    this.#block = decoder.push(chunk);
    this.#from = 0;
    this.#extent.cutLines = decoder.cutLines;
  }

  /** The lines of the block. A pattern may take as long for one of them as others do for thousands. */
  read(until: Instant | undefined): 'interrupted' | 'done' {
    const end = until === undefined ? undefined : shifted(until, DISORDER_S);
    while (this.#from < this.#block.length && !this.hasPassed) {
      this.#readLine(end, true);
      if (this.#taking || this.#turns.spent) return 'interrupted';
    }
    this.#block = '';
    this.#time = keptTime(this.#time);
    return 'done';
  }

  /** What has come behind the last newline. `whole`: whether it is a line. */
  readRest(rest: string, whole: boolean): void {
    this.#block = rest;
    this.#from = 0;
    this.#readLine(undefined, whole);
  }

  #readLine(end: Instant | undefined, whole: boolean): void {
    const [block, from] = [this.#block, this.#from];
    const newline = block.indexOf('\n', from);
    const to = newline === -1 ? block.length : newline;
    this.#from = to + 1;
    const stamped = timeAt(block, from);
    if (!stamped) {
      this.remark ??= Buffer.from(block.slice(from, Math.min(to, from + 300))).toString();
    } else if (!whole) {
      this.remark ??= 'nothing more, within a line';
    } else if (end !== undefined && stamped.time >= end) {
      this.hasPassed = true;
    } else {
      this.#count(stamped.time);
      this.#give(stamped.time, block.slice(stamped.textStart, to));
    }
  }

  /** Resolves when the last line has been taken. */
  async taken(): Promise<void> {
    try {
      await this.#taking;
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#taking = undefined;
    }
  }

  #give(time: Instant, text: string): void {
    try {
      this.#taking = this.#onLine(time, text, this.#ordinal) ?? undefined;
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): never {
    this.fault = { error };
    throw error;
  }

  #count(time: Instant): void {
    this.#extent.lines++;
    this.#extent.first ??= keptTime(time);
    this.#ordinal = time === this.#time ? this.#ordinal + 1 : 0;
    this.#time = time;
  }
}
