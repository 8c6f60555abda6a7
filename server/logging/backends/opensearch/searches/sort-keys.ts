// Hits by their sort keys: which of them were given before, and where the next question goes on.
import { newStoreUnavailable } from '../../../store-errors.ts';
import { STORE } from '../connection/store-name.ts';
import { digestOf, keyOfTime, type Position, timeOfKey, withMoved } from './position.ts';
import type { Hit, SearchAnswer } from './search-answer.ts';

/** How many more records to ask for, so that those that were given of the position's key can be left out. */
export function repeated(position: Position | undefined): number {
  return position?.given.length ?? 0;
}

/** The hits that were not given yet, and how many of the answer's first were. */
export function unseen(answer: SearchAnswer, position: Position | undefined): { hit: Hit; at: number }[] {
  const all = answer.hits.map((hit, at) => ({ hit, at }));
  if (!position) return all;
  const { sequence } = position;
  const given = new Set(position.given);
  return all.filter(({ hit }) => hit.sequence !== sequence || !given.has(digestOf(hit.index, hit.id)));
}

/** The same, where all hits of the position's key are in the answer: an index may have got another name meanwhile. */
export function unseenOrMoved(answer: SearchAnswer, position: Position | undefined, nanoseconds: boolean) {
  if (!position) return unseen(answer, position);
  const time = Number(keyOfTime(position.time, nanoseconds));
  const ofKey = answer.hits
    .filter((hit) => hit.time === time && hit.sequence === position.sequence)
    .map(({ index, id }) => digestOf(index, id));
  return unseen(answer, withMoved(position, ofKey));
}

const KEY = '"sort":[';

/** The position right behind the hit; `count` hits up to it were given, and `before` at the position before. */
export function positionBehind(
  answer: SearchAnswer,
  at: number,
  nanoseconds: boolean,
  before: Position | undefined,
): Position {
  const last = answer.hits[at];
  if (!last) throw new Error('there is no such hit');
  const time = timeOfKey(keyOf(answer, at), nanoseconds);
  const given = answer.hits
    .slice(0, at + 1)
    .filter((hit) => hit.time === last.time && hit.sequence === last.sequence)
    .map((hit) => digestOf(hit.index, hit.id));
  const same = before?.time === time && before.sequence === last.sequence;
  // The answer begins with those that were given of this key before, as long as they are there.
  const all = new Set([...(same ? before.given : []), ...given]);
  return { time, sequence: last.sequence, given: [...all] };
}

/**
 * Milliseconds of each hit, rounded down. Never by way of `time`: nanoseconds lose their last digits there, and so a time
 * may become that of the millisecond before or behind.
 */
export function timesOf(answer: SearchAnswer, nanoseconds: boolean): number[] {
  let begin = -KEY.length;
  return answer.hits.map((hit) => {
    begin = answer.json.text.indexOf(KEY, begin + KEY.length);
    const key = keyAt(answer, begin, hit);
    return nanoseconds ? Number(BigInt(key) / 1_000_000n) : Number(key);
  });
}

/** The time of a hit's sort key, as it was written; quickest for the last hits. */
function keyOf(answer: SearchAnswer, at: number): string {
  let begin = answer.json.text.length;
  for (let n = answer.hits.length; n > at && begin > 0; n--)
    begin = answer.json.text.lastIndexOf(KEY, begin - 1);
  return keyAt(answer, begin, answer.hits[at]);
}

/** No string of JSON can hold the text that begins a key: quotes are escaped in there. So the nth one is that of the nth hit. */
function keyAt({ json: { text } }: SearchAnswer, begin: number, hit: Hit | undefined): string {
  const key = /^-?\d+/.exec(text.slice(begin + KEY.length, begin + KEY.length + 32))?.[0] ?? '';
  if (begin >= 0 && Number(key) === hit?.time) return key;
  throw newStoreUnavailable(STORE, new Error('a sort key cannot be read'));
}
