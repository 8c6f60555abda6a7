// Where the next page goes on: a time, and how many lines of it were given. Lines of one time have an order of ours.
import { isAskable } from '../../../instant.ts';
import type { Instant, LogRecord } from '../../../log-store.ts';
import { newForeignCursor } from '../../../store-errors.ts';
import { STORE } from '../requests/refusal.ts';

export interface Position {
  readonly time: Instant;
  readonly given: number;
}

export function writePosition({ time, given }: Position): string {
  return `${time} ${given}`;
}

/** Throws BadRequest. */
export function readPosition(text: string): Position {
  const [time, given = '', ...more] = text.split(' ');
  if (!isAskable(time) || !/^[1-9]\d{0,8}$/.test(given) || more.length > 0) {
    throw newForeignCursor(STORE);
  }
  return { time, given: Number(given) };
}

/** Behind the last of these, among which are all of its time that come before it; undefined for none. */
export function positionBehind(records: readonly LogRecord[]): Position | undefined {
  const time = records.at(-1)?.time;
  if (time === undefined) return undefined;
  const before = records.findLastIndex((record) => record.time !== time);
  return { time, given: records.length - 1 - before };
}
