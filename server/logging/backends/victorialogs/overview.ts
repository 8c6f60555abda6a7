import type { Instant } from '../../log-store.ts';
import type { Asking, Deadline } from './asking.ts';
import { TIME } from './logsql.ts';
import { instantAt, instantFrom, nanosecondsOf } from './nanoseconds.ts';
import type { Question } from './question.ts';
import { newNonsense } from './refusal.ts';
import type { Row } from './rows.ts';

/** How many lines there are, and between which moments, both of which have a line. */
export interface Overview {
  readonly count: number;
  /** Lines among them that have to be looked at more closely. */
  readonly unsure: number;
  readonly span: { readonly start: Instant; readonly end: Instant } | undefined;
}

/** As cheap as counting: where no filter looks into lines, the store knows it by heart. */
export async function overviewOf(
  asking: Asking,
  question: Question,
  unsure: string | undefined,
  deadline: Deadline,
): Promise<Overview> {
  const pipe = `stats count() as n, min(${TIME}) as first, max(${TIME}) as last${countUnsure(unsure)}`;
  const [row = {}] = await asking.allRows(question, [pipe], deadline);
  const count = numberIn(row, 'n');
  if (count === 0) return { count, unsure: 0, span: undefined };
  const [first, last] = [instantIn(row, 'first'), instantIn(row, 'last')];
  return { count, unsure: unsureIn(row), span: { start: first, end: instantAt(nanosecondsOf(last) + 1n) } };
}

/** One more function of a `stats` pipe, for unsureIn. `unsure`: a filter. */
export function countUnsure(unsure: string | undefined): string {
  return unsure === undefined ? '' : `, count() if (${unsure}) as unsure`;
}

export function unsureIn(row: Row): number {
  return 'unsure' in row ? numberIn(row, 'unsure') : 0;
}

/** The store writes numbers as text. */
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
