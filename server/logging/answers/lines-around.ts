// The lines around one record, as pages of its container bring them, from the record's millisecond on.
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import { millisecondsOf } from '../instant.ts';
import type { LogRecord } from '../log-store.ts';
import { digestOf, type RecordID } from './record-id.ts';
import { fittingPage } from './record-weight.ts';

export class LinesAround {
  readonly #id: RecordID;
  readonly #wanted: Pick<LogQuery, 'before' | 'after'>;
  #records: LogRecord[] = [];
  /** Of the record; -1 until it has come. */
  #index = -1;
  /** Whether what is behind the record's millisecond has come, without it. */
  #hasPassed = false;
  #isCut = false;

  constructor(id: RecordID, wanted: Pick<LogQuery, 'before' | 'after'>) {
    this.#id = id;
    this.#wanted = wanted;
  }

  get isFound(): boolean {
    return this.#index >= 0;
  }

  /** Whether further pages are of no use: there is enough behind the record, or it is not where it should be. */
  get isComplete(): boolean {
    if (!this.isFound) return this.#hasPassed;
    const behind = this.#records.slice(this.#index);
    return behind.length > this.#wanted.after || fittingPage(behind) < behind.length;
  }

  /** What is before the record, the nearest that are wanted; in the order of time, as all of it. */
  get before(): readonly LogRecord[] {
    return this.#records.slice(Math.max(0, this.#index - this.#wanted.before), this.#index);
  }

  /** How many of those that are wanted before the record were not among these; none or less when all were. */
  get missing(): number {
    return this.#wanted.before - this.#index;
  }

  /** Whether lines right before these were there, and were too long to be kept. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** The record, and what is wanted behind it. */
  get behind(): readonly LogRecord[] {
    return this.#records.slice(this.#index, this.#index + 1 + this.#wanted.after);
  }

  /** The next page. */
  add(records: readonly LogRecord[]): void {
    const found = this.isFound ? -1 : records.findIndex((record) => isRecord(record, this.#id));
    if (found >= 0) this.#index = this.#records.length + found;
    this.#records.push(...records);
    if (this.isFound) return;
    // By milliseconds: a store may know no finer order.
    const last = records.at(-1);
    this.#hasPassed = last !== undefined && millisecondsOf(last.time) > millisecondsOf(this.#id.time);
    this.#keepNearest();
  }

  /** Only the nearest are shown, and all of them together may be more than there is memory for. */
  #keepNearest(): void {
    const { before } = this.#wanted;
    const near = this.#records.slice(Math.max(0, this.#records.length - before));
    const kept = fittingPage(near.toReversed());
    this.#isCut = kept < near.length || (this.#isCut && kept < before);
    this.#records = near.slice(near.length - kept);
  }
}

function isRecord({ time, log }: LogRecord, id: RecordID): boolean {
  return time === id.time && digestOf(log) === id.digest;
}
