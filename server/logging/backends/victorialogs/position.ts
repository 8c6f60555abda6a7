// The position of a cursor: a time, and the number of records of that time that earlier pages contain.
import { isAskable } from '../../instant.ts';
import type { Instant, LogRecord } from '../../log-store.ts';
import { newForeignCursor } from '../../store-errors.ts';
import { STORE } from './store-error.ts';

export interface Position {
  readonly time: Instant;
  readonly given: number;
}

export function writePosition({ time, given }: Position): string {
  return `${time} ${given}`;
}

/** Throws BadRequest for a position of another store. */
export function readPosition(text: string): Position {
  const [time, given = '', ...more] = text.split(' ');
  if (!isAskable(time) || !/^[1-9]\d{0,8}$/.test(given) || more.length > 0) throw newForeignCursor(STORE);
  return { time, given: Number(given) };
}

/** Behind the last record; `records` contains all earlier records of its time. Undefined for an empty list. */
export function positionBehind(records: readonly LogRecord[]): Position | undefined {
  const time = records.at(-1)?.time;
  if (time === undefined) return undefined;
  const before = records.findLastIndex((record) => record.time !== time);
  return { time, given: records.length - 1 - before };
}
