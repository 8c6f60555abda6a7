// Where a page ends: the sort key of its last record, and which records with that very key were given. Documents of
// different shards can share time and sequence number; the next page reads that key once more and leaves out what
// was given. So nothing is kept between two pages, neither here nor in the store.
import { hash } from 'node:crypto';
import type { Order } from '../../../log-store.ts';
import { newForeignCursor } from '../../../store-errors.ts';
import { STORE } from '../connection/store-name.ts';

export interface Position {
  /** Nanoseconds since the epoch, as the index has them. */
  readonly time: bigint;
  /** `_seq_no` of the document within its shard. */
  readonly sequence: number;
  /** Digests of the records that were given of this key; some of other keys do no harm. */
  readonly given: readonly string[];
}

const MAX_GIVEN = 200;
const DIGEST_LENGTH = 11;
const ID_LENGTH = 8;
const MILLION = 1_000_000n;
/** Times are 64 bits; the store fails at more of them, as if it were ill. */
const LATEST = 2n ** 63n - 1n;

export function writePosition({ time, sequence, given }: Position): string {
  return [time, sequence, ...given].join('.');
}

/** Positions come back from outside; throws NotSupported for what this store cannot have written. */
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

/** Names a document, whatever characters its id is made of; of the same id in all indices it begins alike. */
export function digestOf(index: string, id: string): string {
  const [ofID, ofBoth] = [id, `${index}\n${id}`].map((text) => hash('sha256', text, 'base64url'));
  return `${ofID?.slice(0, ID_LENGTH)}${ofBoth?.slice(0, DIGEST_LENGTH - ID_LENGTH)}`;
}

/**
 * The position with these digests too that were given under another name: an index that was cloned or shrunk meanwhile
 * has the ids and sequence numbers of the first one. `ofKey`: of all records with the position's key.
 */
export function withMoved(position: Position, ofKey: readonly string[]): Position {
  const known = new Set(position.given);
  const gone = position.given.filter((digest) => !ofKey.includes(digest));
  const ids = new Set(gone.map((digest) => digest.slice(0, ID_LENGTH)));
  const moved = ofKey.filter((digest) => !known.has(digest) && ids.delete(digest.slice(0, ID_LENGTH)));
  return moved.length === 0 ? position : { ...position, given: [...position.given, ...moved] };
}

/** The JSON for `search_after` that goes on at the position, with the records of its very key once more. */
export function searchAfter({ time, sequence }: Position, order: Order, nanoseconds: boolean): string {
  // Longer than what a number of JavaScript keeps; so it is never made one.
  return `[${keyOfTime(time, nanoseconds)},${order === 'asc' ? sequence - 1 : sequence + 1}]`;
}

/** The sort key of nanoseconds. */
export function keyOfTime(time: bigint, nanoseconds: boolean): bigint {
  return nanoseconds ? time : time / MILLION;
}

/** Nanoseconds of a sort key, written as in the answer. */
export function timeOfKey(key: string, nanoseconds: boolean): bigint {
  return nanoseconds ? BigInt(key) : BigInt(key) * MILLION;
}
