// Where a page ends: the sort key of its last record, and which records with that very key were given. Documents of
// different shards can share time and sequence number; the next page reads that key once more and leaves out what
// was given. So nothing is kept between two pages, neither here nor in the store.
import { hash } from 'node:crypto';
import type { Order } from '../../../log-store.ts';
import { newForeignCursor } from '../../../store-errors.ts';
import { STORE } from './store-name.ts';

export interface Position {
  /** Nanoseconds since the epoch, as the index has them. */
  readonly time: bigint;
  /** `_seq_no` of the document within its shard. */
  readonly sequence: number;
  /** Digests of the records that were given of this key; some of other keys do no harm. */
  readonly given: readonly string[];
}

const MAX_GIVEN = 200;
const MILLION = 1_000_000n;
/** Times are 64 bits; the store fails at more of them, as if it were ill. */
const LATEST = 2n ** 63n - 1n;

export function writePosition({ time, sequence, given }: Position): string {
  return [time, sequence, ...given].join('.');
}

/** Positions come back from outside; throws NotSupported for what this store can not have written. */
export function readPosition(text: string): Position {
  const [time = '', sequence = '', ...given] = text.split('.');
  const wellFormed =
    /^-?\d{1,19}$/.test(time) &&
    BigInt(time) <= LATEST &&
    BigInt(time) >= -LATEST &&
    /^\d{1,15}$/.test(sequence) &&
    given.length <= MAX_GIVEN &&
    given.every((digest) => /^[\w-]{11}$/.test(digest));
  if (!wellFormed) throw newForeignCursor(STORE);
  return { time: BigInt(time), sequence: Number(sequence), given };
}

/** Names a document, whatever characters its id is made of. */
export function digestOf(index: string, id: string): string {
  return hash('sha256', `${index}\n${id}`, 'base64url').slice(0, 11);
}

/** The JSON for `search_after` that goes on at the position, with the records of its very key once more. */
export function searchAfter({ time, sequence }: Position, order: Order, nanoseconds: boolean): string {
  // Longer than what a number of JavaScript keeps; so it is never made one.
  const key = nanoseconds ? time : time / MILLION;
  return `[${key},${order === 'asc' ? sequence - 1 : sequence + 1}]`;
}

/** Nanoseconds of a sort key, written as in the answer. */
export function timeOfKey(key: string, nanoseconds: boolean): bigint {
  return nanoseconds ? BigInt(key) : BigInt(key) * MILLION;
}
