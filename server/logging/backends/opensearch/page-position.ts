// Position in sorted hits, as it is in a cursor: the sort key of the last record, and the records with that key that were
// returned. Shards may share time and sequence number, so the next page reads that key again and leaves those out.
// Neither the server nor the store keeps state between two pages.
import { hash } from 'node:crypto';
import type { Order } from '../../log-store.ts';
import { newForeignCursor } from '../../store-errors.ts';
import { STORE } from './error-response.ts';
import type { Hit } from './search-response.ts';

export interface Position {
  /** Nanoseconds since the epoch. */
  readonly time: bigint;
  /** `_seq_no` of the document in its shard. */
  readonly sequence: number;
  /** Digests of the returned records with this key. */
  readonly returned: readonly string[];
}

const MAX_RETURNED = 200;
const DIGEST_LENGTH = 11;
/** Times have 64 bits. A greater one makes the store fail. */
const LATEST = 2n ** 63n - 1n;

export function writePosition({ time, sequence, returned }: Position): string {
  return [time, sequence, ...returned].join('.');
}

/** Cursors are untrusted. Throws BadRequest for one that this store cannot have written. */
export function readPosition(text: string): Position {
  const [time = '', sequence = '', ...returned] = text.split('.');
  const isWellFormed =
    /^-?\d{1,19}$/.test(time) &&
    BigInt(time) <= LATEST &&
    BigInt(time) >= -LATEST &&
    /^\d{1,15}$/.test(sequence) &&
    returned.length <= MAX_RETURNED &&
    returned.every((digest) => /^[\w-]{11}$/.test(digest));
  if (!isWellFormed) throw newForeignCursor(STORE);
  return { time: BigInt(time), sequence: Number(sequence), returned };
}

/** JSON of `search_after`, from the records with the position's own key on. */
export function searchAfter({ time, sequence }: Position, order: Order, nanoseconds: boolean): string {
  const key = nanoseconds ? time : time / 1_000_000n;
  // Written as text, because the key may exceed the integers of a double.
  return `[${key},${order === 'asc' ? sequence - 1 : sequence + 1}]`;
}

/** Hits that a search from the position on may repeat. */
export function repeatedHits(position: Position | undefined): number {
  return position?.returned.length ?? 0;
}

/** The hits without those that were returned up to the position. */
export function newHits(hits: readonly Hit[], position: Position | undefined): readonly Hit[] {
  if (!position) return hits;
  const returned = new Set(position.returned);
  return hits.filter((hit) => hit.sequence !== position.sequence || !returned.has(digestOf(hit)));
}

/** The position behind `last`, which is one of the hits of a search from the position `before` on. */
export function positionBehind(hits: readonly Hit[], last: Hit, before: Position | undefined): Position {
  const { time, sequence } = last;
  const returned = hits
    .slice(0, hits.indexOf(last) + 1)
    .filter((hit) => hit.time === time && hit.sequence === sequence)
    .map(digestOf);
  const isSameKey = before?.time === time && before.sequence === sequence;
  return { time, sequence, returned: [...new Set([...(isSameKey ? before.returned : []), ...returned])] };
}

/** Without the index, whose name changes when it is cloned or shrunk. */
function digestOf({ id }: Hit): string {
  return hash('sha256', id, 'base64url').slice(0, DIGEST_LENGTH);
}
