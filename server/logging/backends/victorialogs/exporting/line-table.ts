// Lines of our NDJSON as bytes, and where each begins. Nearly all of them come from the store in their final form
// (record-line.ts asks for it), so they are checked once, and neither decoded nor copied.
import { isUtf8 } from 'node:buffer';
import { sortedInTurns } from '../../../../concurrency/merge-sort.ts';
import type { Turns } from '../../../../concurrency/turns.ts';
import type { Instant, LogRecord } from '../../../log-store.ts';
import { byTime } from '../requests/record.ts';
import { digitsBehind, TIME_BEGIN, TIME_END, zuluOf } from './line-form.ts';
import { mendedLine, recordsIn } from './record-line.ts';
import { compareTexts } from './text-order.ts';

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);
/** From this many lines on it is worth checking whether they happen to be in order. */
const FEW = 100;
/** Lines that are looked at in one go. */
const LOOKED_AT = 1_024;

export class LineTable {
  /** The lines with their newlines. */
  readonly bytes: Buffer;
  readonly #begins: number[];

  constructor(bytes: Buffer, begins: number[]) {
    this.bytes = bytes;
    this.#begins = begins;
  }

  get length(): number {
    return this.#begins.length;
  }

  /** Of one that is there, or of the end. */
  #begin(line: number): number {
    return this.#begins[line] ?? this.bytes.length;
  }

  /** The first so many. */
  first(lines: number): LineTable {
    return new LineTable(this.bytes.subarray(0, this.#begin(lines)), this.#begins.slice(0, lines));
  }

  bytesFrom(line: number): Buffer {
    return this.bytes.subarray(this.#begin(line));
  }

  /** Of the lines for which it is true. */
  async filter(isWanted: (line: number) => boolean, turns: Turns): Promise<LineTable> {
    const begins: number[] = [];
    const kept: Buffer[] = [];
    let length = 0;
    for (let line = 0; line < this.length; line++) {
      if (turns.spent) await turns.next();
      if (!isWanted(line)) continue;
      const text = this.bytes.subarray(this.#begin(line), this.#begin(line + 1));
      kept.push(text);
      begins.push(length);
      length += text.length;
    }
    return new LineTable(Buffer.concat(kept), begins);
  }

  timeOf(line: number): Instant {
    const begin = this.#begin(line);
    return this.bytes.toString('latin1', begin + TIME_BEGIN, begin + TIME_END);
  }

  records(from: number, to: number): LogRecord[] {
    return recordsIn(this.bytes.toString('utf8', this.#begin(from), this.#begin(to) - 1));
  }

  bytesOf(line: number): Buffer {
    return this.bytes.subarray(this.#begin(line), this.#begin(line + 1) - 1);
  }

  /** Negative when the first is earlier. */
  compareTimes(first: number, second: number): number {
    const { bytes } = this;
    const [left, right] = [this.#begin(first), this.#begin(second)];
    for (let at = TIME_BEGIN; at < TIME_END; at++) {
      const difference = (bytes[left + at] ?? 0) - (bytes[right + at] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /** Puts these lines of one time in the order of pages, in place. */
  async sortMoment(from: number, to: number, sign: 1 | -1, turns: Turns): Promise<void> {
    if (to - from <= FEW && this.#isSorted(from, to, sign)) return;
    const lines = Array.from({ length: to - from }, (_, index) => from + index);
    const inOrder = await sortedInTurns(lines, (left, right) => sign * this.#compare(left, right), turns);
    const [begin, end] = [this.#begin(from), this.#begin(to)];
    const sorted = Buffer.allocUnsafe(end - begin);
    const begins: number[] = [];
    let length = 0;
    for (const line of inOrder) {
      begins.push(begin + length);
      length += this.bytes.copy(sorted, length, this.#begin(line), this.#begin(line + 1));
    }
    sorted.copy(this.bytes, begin);
    for (const [index, each] of begins.entries()) this.#begins[from + index] = each;
  }

  #isSorted(from: number, to: number, sign: 1 | -1): boolean {
    for (let line = from + 1; line < to; line++) if (sign * this.#compare(line - 1, line) > 0) return false;
    return true;
  }

  /** Of lines of one time. */
  #compare(first: number, second: number): number {
    const [left, right] = [this.#begin(first), this.#begin(second)];
    const length = Math.min(this.#begin(first + 1) - left, this.#begin(second + 1) - right);
    const told = compareTexts(this.bytes, left + TIME_END, right + TIME_END, length - TIME_END);
    return Number.isNaN(told) ? this.#compareRecords(first, second) : told;
  }

  #compareRecords(first: number, second: number): number {
    const [left, right] = [first, second].flatMap((line) => this.records(line, line + 1));
    return left && right ? byTime(left, right) : 0;
  }
}

/** Of whole lines, in the form that `recordPipes` gave them. Throws when it has another one. */
export async function lineTableOf(piece: Buffer, turns: Turns): Promise<LineTable> {
  const bytes = isUtf8(piece) ? piece : Buffer.from(piece.toString('utf8'));
  const begins: number[] = [];
  const changes: Change[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let [shift, before] = [0, -1];
  const replace = (from: number, to: number, text: Buffer): void => {
    changes.push({ from, to, text });
    shift += text.length - (to - from);
  };
  for (let at = 0; at < bytes.length; ) {
    if (begins.length % LOOKED_AT === LOOKED_AT - 1 && turns.spent) await turns.next();
    const end = bytes.indexOf(NEWLINE, at);
    if (end === at) replace(at, at + 1, NOTHING);
    else {
      begins.push(at + shift);
      const zulu = zuluOf(bytes, view, at, end, before);
      before = zulu === -1 ? -1 : at;
      if (zulu === -1) replace(at, end, mendedLine(bytes.subarray(at, end)));
      else if (zulu !== at + TIME_END - 1) replace(zulu, zulu, digitsBehind(zulu - at - TIME_BEGIN));
    }
    at = end + 1;
  }
  return new LineTable(changed(bytes, changes, shift), begins);
}

interface Change {
  readonly from: number;
  readonly to: number;
  readonly text: Buffer;
}

/** `longer`: by so many bytes. */
function changed(bytes: Buffer, changes: readonly Change[], longer: number): Buffer {
  if (changes.length === 0) return bytes;
  const whole = Buffer.allocUnsafe(bytes.length + longer);
  let [taken, length] = [0, 0];
  for (const { from, to, text } of changes) {
    length += bytes.copy(whole, length, taken, from);
    length += text.copy(whole, length);
    taken = to;
  }
  bytes.copy(whole, length, taken);
  return whole;
}
