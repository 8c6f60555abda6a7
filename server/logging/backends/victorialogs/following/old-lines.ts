// Lines of the past, for a follower who starts there: there may be any number of them, so they come as in an export, one
// slice after the other, and none is remembered.
import type { Deadline } from '../../../deadline.ts';
import type { Instant, LogRecord } from '../../../log-store.ts';
import { simpleOverview } from '../counting/overview.ts';
import { exportLines } from '../exporting/export.ts';
import { behind } from '../requests/nanoseconds.ts';
import { type Queries, REQUEST_MS } from '../requests/queries.ts';
import type { QuestionAbout, Range, Search } from '../selection/question.ts';

export interface OldLinesWanted extends Search {
  /** The question without what looks into lines. */
  readonly rough: QuestionAbout;
}

export interface OldLines {
  readonly records: readonly LogRecord[];
  /** All of the range before this was given. */
  readonly next: Instant;
}

/** Oldest first; the last one leads to the end of the range. Throws StatusErrors. */
export async function* oldLines(
  queries: Queries,
  { question, rough, fields, isMeant }: OldLinesWanted,
  { start, end }: Range,
  deadline: Deadline,
): AsyncGenerator<OldLines, void, undefined> {
  const asked = rough({ start, end });
  const found = asked && (await simpleOverview(queries, asked, deadline.within(REQUEST_MS)));
  if (found?.span) {
    const { count, span: range } = found;
    const wanted = { question, fields, isMeant, order: 'asc', range, count } as const;
    for await (const lines of exportLines(queries, wanted, deadline))
      yield { records: [...lines], next: behind(lines.until) };
  }
  yield { records: [], next: end };
}
