// Records as they are answered: with their ids and, on request, the places where the texts were found. The store finds
// the lines; matching/ decides what a text matches.
import type { AnsweredRecord } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { LogQuery } from '../../../apis/logging/v1alpha2/log-query.ts';
import type { Turns } from '../../concurrency/turns.ts';
import type { LogRecord } from '../log-store.ts';
import { type LineMatcher, lineMatcher, type Span, searchableLength } from '../matching/line-matcher.ts';
import { idOf } from './record-id.ts';
import { textOf } from './selection.ts';

export interface AnsweringCall {
  readonly turns: Turns;
  readonly signal: AbortSignal;
}

/** Characters of a line that are searched for places, at most; less where the pattern is large. */
const MAX_LOOK = 65_536;
/** Of one line: more would make the answer many times its size. */
const MAX_HIGHLIGHTS = 1_000;

/** Rejects with the signal's reason when it is aborted. */
export async function answered(
  query: LogQuery,
  records: readonly LogRecord[],
  { turns, signal }: AnsweringCall,
): Promise<AnsweredRecord[]> {
  const text = query.highlight ? textOf(query) : undefined;
  const matcher = text && lineMatcher(text);
  const most = text ? Math.min(MAX_LOOK, searchableLength(text)) : 0;
  const answers: AnsweredRecord[] = [];
  const rest = async (): Promise<void> => {
    await turns.next();
    signal.throwIfAborted();
  };
  const highlightsOf = async (line: string): Promise<[number, number][]> => {
    const highlights: [number, number][] = [];
    for (const [begin, end] of matcher ? spansIn(line, matcher, most) : []) {
      highlights.push([begin, end]);
      if (highlights.length === MAX_HIGHLIGHTS) break;
      if (turns.spent) await rest();
    }
    return highlights;
  };
  signal.throwIfAborted();
  for (const record of records) {
    if (turns.spent) await rest();
    answers.push(
      query.highlight ? { ...plain(record), highlights: await highlightsOf(record.log) } : plain(record),
    );
  }
  return answers;
}

function plain(record: LogRecord): AnsweredRecord {
  const { log, time, namespace, pod, container } = record;
  return { log, time, namespace, pod, container, id: idOf(record) };
}

function* spansIn(line: string, matcher: LineMatcher, most: number): Generator<Span, void, undefined> {
  const isLong = line.length > most;
  for (const span of matcher.spans(isLong ? line.slice(0, most) : line)) {
    // A place that touches the cut may continue behind it, or end there only because of the cut.
    if (!isLong || span[1] < most) yield span;
  }
}
