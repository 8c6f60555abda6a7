// LogLine: a line of a pod log with its sort position. Lines are sorted by time, then by container log, then by
// order in the log.
import { compareText } from '../../store/instant.ts';
import type { Instant, LogRecord } from '../../store/log-store.ts';
import type { ContainerLog } from './container-log.ts';

export interface LogLine {
  readonly time: Instant;
  /** Index of the log in the sorted list of selected logs. */
  readonly rank: number;
  /** Number of earlier lines of the log with the same time. */
  readonly ordinal: number;
  readonly text: string;
}

export type LinePosition = Pick<LogLine, 'time' | 'rank' | 'ordinal'>;

export function comparePositions(a: LinePosition, b: LinePosition): number {
  return compareText(a.time, b.time) || a.rank - b.rank || a.ordinal - b.ordinal;
}

/** Bytes of a line in memory besides its text. */
const OVERHEAD = 150;
const WIDE_CHARACTER = /[\u0100-\uffff]/;

/** Bytes of a line in memory. V8 stores a string with a character outside Latin-1 as two bytes for each character. */
export function costOf(text: string): number {
  return OVERHEAD + text.length * (WIDE_CHARACTER.test(text) ? 2 : 1);
}

/** Copies a slice of a string. V8 keeps the whole string in memory as long as the original slice exists. */
export function detached(slice: string): string {
  const encoding = WIDE_CHARACTER.test(slice) ? 'utf16le' : 'latin1';
  return Buffer.from(slice, encoding).toString(encoding);
}

export function toRecord({ time, rank, text }: LogLine, logs: readonly ContainerLog[]): LogRecord {
  const { namespace = '', pod = '', container = '' } = logs[rank] ?? {};
  return { time, log: text, namespace, pod, container };
}
