// Parses and sorts VictoriaLogs records. VictoriaLogs returns records with equal times in any order, so this server
// sorts the records.
import { text } from '../../../../apis/reading/unknown-value.ts';
import { mergeSort } from '../../../concurrency/merge-sort.ts';
import type { TimeSlices } from '../../../concurrency/time-slicer.ts';
import { compareText } from '../../store/instant.ts';
import { type LogRecord, type Order, withoutLineEnd } from '../../store/log-store.ts';
import { type FieldNames, MESSAGE, quoted, TIME } from './logsql.ts';
import { instantIn, type Row } from './rows.ts';

/** Names of the fields in responses. Short, because each row repeats them: with the names of the store, rows are a quarter longer. */
const [NAMESPACE, POD, CONTAINER] = ['_n', '_p', '_c'] as const;

/** The pipe that selects the fields of a record. */
export function fieldsPipe({ namespace, pod, container }: FieldNames): string {
  const copies = [
    [namespace, NAMESPACE],
    [pod, POD],
    [container, CONTAINER],
  ].map(([field = '', name = '']) => `${quoted(field)} as ${name}`);
  return `copy ${copies.join(', ')} | fields ${[TIME, MESSAGE, NAMESPACE, POD, CONTAINER].join(', ')}`;
}

/** The pipe that sorts by time. */
export function sortPipe(order: Order): string {
  return `sort by (${TIME}${order === 'asc' ? '' : ' desc'})`;
}

/** Converts rows to records; time-sliced. */
export async function recordsOf(rows: readonly Row[], slices: TimeSlices): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for (const row of rows) {
    if (slices.spent) await slices.next();
    records.push(recordOf(row));
  }
  return records;
}

/** The store omits empty fields. */
export function recordOf(row: Row): LogRecord {
  return {
    time: instantIn(row, TIME),
    namespace: text(row[NAMESPACE]),
    pod: text(row[POD]),
    container: text(row[CONTAINER]),
    log: withoutLineEnd(text(row[MESSAGE])),
  };
}

/** Sorts by time, then by all other fields; time-sliced. */
export async function inOrder(
  records: readonly LogRecord[],
  order: Order,
  slices: TimeSlices,
): Promise<readonly LogRecord[]> {
  const sign = order === 'asc' ? 1 : -1;
  const compare = (left: LogRecord, right: LogRecord): number => sign * compareRecords(left, right);
  const isSorted = records.every((record, at) => at === 0 || compare(records[at - 1] ?? record, record) <= 0);
  return isSorted ? records : mergeSort(records, compare, slices);
}

function compareRecords(left: LogRecord, right: LogRecord): number {
  return (
    compareText(left.time, right.time) ||
    compareText(left.namespace, right.namespace) ||
    compareText(left.pod, right.pod) ||
    compareText(left.container, right.container) ||
    compareText(left.log, right.log)
  );
}
