import type { LogQueryAnswer } from '../../../apis/logging/v1alpha2/log-answer.ts';
import type { AnsweringCall } from './answered-records.ts';
import { isOnePiece, pieces } from './record-weight.ts';

/** Where the records go. No text can look like it: quotes within one are escaped. */
const RECORDS = '"records":[]';

/**
 * An answer as JSON. The lines of a long page are encoded in turns: a mebibyte of control characters takes a fiftieth of a
 * second and becomes six of them, and a page may have eight. Rejects with the signal's reason when it is aborted.
 */
export async function encodedAnswer(
  answer: object | Pick<LogQueryAnswer, 'query'>,
  { turns, signal }: AnsweringCall,
): Promise<string | Buffer> {
  if (!('query' in answer) || isOnePiece(answer.query.records)) {
    return `${JSON.stringify(answer)}\n`;
  }
  const { query } = answer;
  const frame = JSON.stringify({ ...answer, query: { ...query, records: [] } });
  const place = frame.indexOf(RECORDS) + RECORDS.length - 1;
  const encoded = [Buffer.from(frame.slice(0, place))];
  for (const piece of pieces(query.records)) {
    if (turns.spent) await turns.next();
    signal.throwIfAborted();
    const separator = encoded.length === 1 ? '' : ',';
    encoded.push(Buffer.from(`${separator}${JSON.stringify(piece).slice(1, -1)}`));
  }
  encoded.push(Buffer.from(`${frame.slice(place)}\n`));
  return Buffer.concat(encoded);
}
