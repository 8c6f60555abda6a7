// A log line with its position in the order of all lines of a query.
import { compareText } from '../../../instant.ts';
import type { Instant, LogRecord } from '../../../log-store.ts';
import type { ContainerLog } from '../pods/container-log.ts';

export interface LogLine {
  readonly time: Instant;
  /** Index of the log in the sorted list of logs. */
  readonly rank: number;
  /** Number of earlier lines of the log with the same time. */
  readonly ordinal: number;
  readonly text: string;
}

export type LinePosition = Pick<LogLine, 'time' | 'rank' | 'ordinal'>;

export function comparePositions(a: LinePosition, b: LinePosition): number {
  return compareText(a.time, b.time) || a.rank - b.rank || a.ordinal - b.ordinal;
}

/** Bytes of a line besides its text. */
const OVERHEAD = 200;
/** One character outside Latin-1 makes V8 use two bytes for each. */
const BYTES_PER_CHARACTER = 2;

/** Maximum bytes that a line takes in memory. */
export function costOf(text: string): number {
  return BYTES_PER_CHARACTER * text.length + OVERHEAD;
}

/** A copy that does not keep the block in memory that the text is a slice of. */
export function detached(slice: string): string {
  return ` ${slice}`.slice(1);
}

export function toRecord({ time, rank, text }: LogLine, logs: readonly ContainerLog[]): LogRecord {
  const { namespace = '', pod = '', container = '' } = logs[rank] ?? {};
  return { time, log: text, namespace, pod, container };
}
