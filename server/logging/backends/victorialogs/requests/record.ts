// Rows of the store as records, and the order of those of the same time, which the store leaves open.
import { text } from '../../../../../apis/reading/unknown-value.ts';
import { sortedInTurns } from '../../../../concurrency/merge-sort.ts';
import type { Turns } from '../../../../concurrency/turns.ts';
import { compareText } from '../../../compare-text.ts';
import { withoutLineEnd } from '../../../line-end.ts';
import type { LogRecord, Order } from '../../../log-store.ts';
import type { FieldNames } from '../selection/fields.ts';
import { quoted, TIME } from '../selection/logsql.ts';
import { instantFrom } from './nanoseconds.ts';
import { newNonsense } from './refusal.ts';
import type { Row } from './rows.ts';

/** What a record is made of. */
export function recordFieldNames({ message, namespace, pod, container }: FieldNames): string[] {
  return [TIME, message, namespace, pod, container];
}

/** The pipe that leaves these. */
export function recordFields(fields: FieldNames): string {
  return `fields ${recordFieldNames(fields).map(quoted).join(', ')}`;
}

/** With its members in the order of ExportBatch.ndjson. */
export function recordOf(
  row: Row,
  { message, namespace, pod, container }: Omit<FieldNames, 'containerID'>,
  timeName = TIME,
): LogRecord {
  const time = row[timeName];
  const instant = typeof time === 'string' ? instantFrom(time) : undefined;
  if (instant === undefined) throw newNonsense('a line without time');
  // The store leaves out what is empty.
  return {
    time: instant,
    namespace: text(row[namespace]),
    pod: text(row[pod]),
    container: text(row[container]),
    log: withoutLineEnd(text(row[message])),
  };
}

/** By time, then by where the line is from, then by what it says: records that are equal in this are alike in all. */
export function byTime(left: LogRecord, right: LogRecord): number {
  return (
    compareText(left.time, right.time) ||
    compareText(left.namespace, right.namespace) ||
    compareText(left.pod, right.pod) ||
    compareText(left.container, right.container) ||
    compareText(left.log, right.log)
  );
}

export function inOrder(records: readonly LogRecord[], order: Order, turns: Turns): Promise<LogRecord[]> {
  return sortedInTurns(records, order === 'asc' ? byTime : (left, right) => byTime(right, left), turns);
}

/** All of them, or those for which `isMeant` is true; in turns, since either takes long when there are many. */
export async function recordsOf(
  rows: readonly Row[],
  fields: FieldNames,
  turns: Turns,
  isMeant: (record: LogRecord) => boolean = () => true,
): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for (const row of rows) {
    if (turns.spent) await turns.next();
    const record = recordOf(row, fields);
    if (isMeant(record)) records.push(record);
  }
  return records;
}
