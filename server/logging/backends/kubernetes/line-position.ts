// Where a page ended, in a form that outlives it: names, since places among sources change from call to call.

import { isInstant } from '../../instant.ts';
import type { Instant } from '../../log-store.ts';
import { newNotSupported } from '../../store-errors.ts';
import { compareSources, type LogSource, type Named } from './log-source.ts';
import type { Place } from './ranked-line.ts';

const PATTERN = /^([^/]{30})\/([^/]{1,63})\/([^/]{1,253})\/([^/]{1,63})\/([pc])\/(\d{1,9})$/;

export function writePosition({ time, rank, ordinal }: Place, sources: readonly LogSource[]): string {
  const { namespace = '', pod = '', container = '', previous = false } = sources[rank] ?? {};
  return [time, namespace, pod, container, previous ? 'p' : 'c', ordinal].join('/');
}

/**
 * The place among `sources`; between two of them when the log is no longer there. Throws NotSupported for what
 * writePosition has not written.
 */
export function readPosition(text: string, sources: readonly LogSource[]): Place {
  const [, time = '', namespace = '', pod = '', container = '', run, ordinal] = PATTERN.exec(text) ?? [];
  if (!isInstant(time)) {
    throw newNotSupported('kubernetes', 'cursor', 'it is none of its own; begin with the first page');
  }
  const source = { namespace, pod, container, previous: run === 'p' };
  return { time: time satisfies Instant, rank: rankOf(source, sources), ordinal: Number(ordinal) };
}

function rankOf(source: Named, sources: readonly LogSource[]): number {
  const next = sources.findIndex((other) => compareSources(other, source) >= 0);
  const at = next === -1 ? sources.length : next;
  const same = sources[at];
  return same && compareSources(same, source) === 0 ? at : at - 0.5;
}
