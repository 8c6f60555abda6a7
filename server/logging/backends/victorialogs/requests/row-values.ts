// What the rows of counts say, read narrowly: the store writes everything as text.
import type { Instant } from '../../../log-store.ts';
import { instantFrom } from './nanoseconds.ts';
import { newNonsense } from './refusal.ts';
import type { Row } from './rows.ts';

export function numberIn(row: Row, name: string): number {
  const value = row[name];
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw newNonsense('a count that is no number');
  return number;
}

export function instantIn(row: Row, name: string): Instant {
  const value = row[name];
  const instant = typeof value === 'string' ? instantFrom(value) : undefined;
  if (instant === undefined) throw newNonsense('a time that is no time');
  return instant;
}
