import type { Instant } from '../../log-store.ts';
import type { Asking, Deadline } from './asking.ts';
import { TIME } from './logsql.ts';
import { instantAt, instantFrom, nanosecondsOf } from './nanoseconds.ts';
import type { Question } from './question.ts';
import { BrokenAnswerError, type Row } from './rows.ts';

/** How many lines there are, and between which moments, both of which have a line. */
export interface Overview {
  readonly count: number;
  readonly span: { readonly start: Instant; readonly end: Instant } | undefined;
}

/** As cheap as counting: where no filter looks into lines, the store knows it by heart. */
export async function overviewOf(
  asking: Asking,
  question: Pick<Question, 'lines' | 'extraFilters'>,
  deadline: Deadline,
): Promise<Overview> {
  const pipe = `stats count() as n, min(${TIME}) as first, max(${TIME}) as last`;
  const [row = {}] = await asking.allRows(question, [pipe], deadline);
  const count = numberIn(row, 'n');
  if (count === 0) return { count, span: undefined };
  const [first, last] = [instantIn(row, 'first'), instantIn(row, 'last')];
  return { count, span: { start: first, end: instantAt(nanosecondsOf(last) + 1n) } };
}

/** The store writes numbers as text. */
export function numberIn(row: Row, name: string): number {
  const value = row[name];
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw new BrokenAnswerError('a count that is no number');
  return number;
}

export function instantIn(row: Row, name: string): Instant {
  const value = row[name];
  const instant = typeof value === 'string' ? instantFrom(value) : undefined;
  if (instant === undefined) throw new BrokenAnswerError('a time that is no time');
  return instant;
}
