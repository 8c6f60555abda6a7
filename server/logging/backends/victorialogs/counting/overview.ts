import type { Deadline } from '../../../deadline.ts';
import type { Instant } from '../../../log-store.ts';
import { behind } from '../requests/nanoseconds.ts';
import type { Queries } from '../requests/queries.ts';
import { instantIn, numberIn } from '../requests/row-values.ts';
import type { Row } from '../requests/rows.ts';
import { TIME } from '../selection/logsql.ts';
import type { Question, Questions } from '../selection/question.ts';
import type { Judge } from './judge.ts';

export interface Overview {
  readonly count: number;
  /** Between which moments the lines are. */
  readonly span: { readonly start: Instant; readonly end: Instant } | undefined;
  /** Whether the quick question finds the lines, and how many others. */
  readonly isQuick: boolean;
  readonly others: number;
}

const COUNTED = `count() as n, min(${TIME}) as first, max(${TIME}) as last`;

/** Exact. */
export async function overviewOf(
  queries: Queries,
  { quick, exact }: Questions,
  judge: Judge,
  deadline: Deadline,
): Promise<Overview> {
  if (quick) {
    const pipe = `stats ${COUNTED}, ${judge.counted(quick, 1)}`;
    const [row = {}] = await queries.allRows(quick, [pipe], deadline);
    const judged = await judge.judged([row], quick, deadline);
    if (judged) {
      // Lines may arrive between two requests.
      const others = Math.max(0, judged.unsure - judged.lines.length);
      return { count: numberIn(row, 'n') - others, span: spanIn(row), isQuick: true, others };
    }
  }
  return simpleOverview(queries, exact, deadline);
}

/** As cheap as counting: without a filter on text the store answers from its index. */
export async function simpleOverview(
  queries: Queries,
  question: Question,
  deadline: Deadline,
): Promise<Overview> {
  const [row = {}] = await queries.allRows(question, [`stats ${COUNTED}`], deadline);
  return { count: numberIn(row, 'n'), span: spanIn(row), isQuick: false, others: 0 };
}

function spanIn(row: Row): Overview['span'] {
  if (numberIn(row, 'n') === 0) return undefined;
  return { start: instantIn(row, 'first'), end: behind(instantIn(row, 'last')) };
}
