// Where a page ended, in a form that outlives it: names, since places among sources change from call to call. And what
// spares the next page the reading of everything: how many lines there were, and how long a time the page was.
import { isInstant } from '../../../instant.ts';
import type { Total } from '../../../log-store.ts';
import { newNotSupported } from '../../../store-errors.ts';
import { compareSources, type LogSource, type Named } from '../pods/log-source.ts';
import type { Place } from '../reading/ranked-line.ts';

export interface PagePosition {
  /** Of the last line. */
  readonly place: Place;
  readonly total: Total;
  /** Ms from its first line to its last. */
  readonly span: number;
}

const PATTERN =
  /^([^/]{30})\/([^/]{1,63})\/([^/]{1,253})\/([^/]{1,63})\/([pc])\/(\d{1,9})\/(\d{1,15})([eg])\/(\d{1,15})$/;

export function writePosition({ place, total, span }: PagePosition, sources: readonly LogSource[]): string {
  const { time, rank, ordinal } = place;
  const { namespace = '', pod = '', container = '', previous = false } = sources[rank] ?? {};
  const count = `${total.count}${total.relation === 'eq' ? 'e' : 'g'}`;
  return [time, namespace, pod, container, previous ? 'p' : 'c', ordinal, count, span].join('/');
}

/**
 * The place is one among `sources`; between two of them when the log is no longer there. Throws NotSupported for what
 * writePosition has not written.
 */
export function readPosition(text: string, sources: readonly LogSource[]): PagePosition {
  const [, time = '', namespace = '', pod = '', container = '', run, ordinal, count, relation, span] =
    PATTERN.exec(text) ?? [];
  if (!isInstant(time)) {
    throw newNotSupported('kubernetes', 'cursor', 'it is none of its own; begin with the first page');
  }
  const source = { namespace, pod, container, previous: run === 'p' };
  return {
    place: { time, rank: rankOf(source, sources), ordinal: Number(ordinal) },
    total: { count: Number(count), relation: relation === 'e' ? 'eq' : 'gte' },
    span: Number(span),
  };
}

function rankOf(source: Named, sources: readonly LogSource[]): number {
  const next = sources.findIndex((other) => compareSources(other, source) >= 0);
  const at = next === -1 ? sources.length : next;
  const same = sources[at];
  return same && compareSources(same, source) === 0 ? at : at - 0.5;
}
