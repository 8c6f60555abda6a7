import { compareText } from '../../../compare-text.ts';
import type { Instant, LogRecord } from '../../../log-store.ts';
import type { LogSource } from '../pods/log-source.ts';

/** A line with its place in the order of all lines. */
export interface RankedLine {
  readonly time: Instant;
  /** Of the source, in the order of sources. */
  readonly rank: number;
  /** Among the lines of the same time of the source. */
  readonly ordinal: number;
  readonly text: string;
}

export type Place = Pick<RankedLine, 'time' | 'rank' | 'ordinal'>;

export function compareLines(a: Place, b: Place): number {
  return compareText(a.time, b.time) || a.rank - b.rank || a.ordinal - b.ordinal;
}

/** Bytes that a line costs besides its text. */
const OVERHEAD = 200;
/** Of all that is decoded together, when one character is not in Latin-1. */
const CHARACTER = 2;

/** Bytes that a line takes while it is held, at most. */
export function costOf(text: string): number {
  return CHARACTER * text.length + OVERHEAD;
}

/** A line to be kept: a slice of a block would hold on to all of the block. */
export function keptLine(time: Instant, rank: number, ordinal: number, text: string): RankedLine {
  return { time: copy(time), rank, ordinal, text: copy(text) };
}

/** The same of a place. */
export function keptPlace({ time, rank, ordinal }: Place): Place {
  return { time: copy(time), rank, ordinal };
}

export function keptTime(time: Instant): Instant {
  return copy(time);
}

function copy(slice: string): string {
  return ` ${slice}`.slice(1);
}

export function recordOf(line: RankedLine, sources: readonly LogSource[]): LogRecord {
  const { namespace = '', pod = '', container = '' } = sources[line.rank] ?? {};
  return { time: line.time, log: line.text, namespace, pod, container };
}
