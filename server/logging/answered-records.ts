// Records as they are answered: with their ids and, when they are wanted, the places of the texts. Which lines there are
// is the store's business; what a text matches is matching/'s.
import type { AnsweredRecord } from '../../apis/logging/v1alpha2/log-answer.ts';
import type { LogQuery } from '../../apis/logging/v1alpha2/log-query.ts';
import type { LogRecord } from './log-store.ts';
import { type LineMatcher, lineMatcher, lookableLength } from './matching/line-matcher.ts';
import { idOf } from './record-id.ts';
import { textOf } from './selection.ts';
import type { Turns } from './turns.ts';

export interface AnsweringCall {
  readonly turns: Turns;
  readonly signal: AbortSignal;
}

/** Of a line that is looked for places, at the most; less where the pattern is large. */
const MAX_LOOK = 65_536;
/** Of one line: they would make the answer many times its size. */
const MAX_PLACES = 1_000;

/** Rejects with the signal's reason when it is aborted. */
export async function answered(
  query: LogQuery,
  records: readonly LogRecord[],
  { turns, signal }: AnsweringCall,
): Promise<AnsweredRecord[]> {
  if (!query.highlight) return records.map(plain);
  const text = textOf(query);
  const matcher = text && lineMatcher(text);
  const most = text ? Math.min(MAX_LOOK, lookableLength(text)) : 0;
  const answers: AnsweredRecord[] = [];
  for (const record of records) {
    if (turns.spent) await turns.next();
    signal.throwIfAborted();
    answers.push({ ...plain(record), highlights: highlightsOf(record.log, matcher, most) });
  }
  return answers;
}

function plain(record: LogRecord): AnsweredRecord {
  const { log, time, namespace, pod, container } = record;
  return { log, time, namespace, pod, container, id: idOf(record) };
}

function highlightsOf(line: string, matcher: LineMatcher | undefined, most: number): [number, number][] {
  if (!matcher) return [];
  const isLong = line.length > most;
  const found = matcher.places(isLong ? line.slice(0, most) : line);
  // What touches the cut may go on behind it, or end there only because of it.
  const whole = isLong ? found.filter(([, end]) => end < most) : found;
  return whole.slice(0, MAX_PLACES).map(([begin, end]) => [begin, end]);
}
