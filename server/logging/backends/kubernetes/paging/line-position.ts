// Where a page ended, in a form that outlives it: names, since indices of sources change from call to call. And what
// saves the next page from reading everything: how many lines there were, and how much time the page covered.
import { isInstant } from '../../../instant.ts';
import type { Total } from '../../../log-store.ts';
import { newForeignCursor } from '../../../store-errors.ts';
import { compareSources, type LogSource, type Named } from '../pods/log-source.ts';
import { STORE } from '../reading/call-bounds.ts';
import type { Place } from '../reading/ranked-line.ts';

export interface PagePosition {
  /** Of the last line. */
  readonly place: Place;
  readonly total: Total;
  /** Ms from its first line to its last. */
  readonly span: number;
}

const PATTERN =
  /^([^/]{30})\/([^/]{1,63})\/([^/]{1,253})\/([^/]{1,63})\/([pc])\/(\d{1,9})\/(\d{1,15})([eg])\/(\d{1,15})\/(.{0,24})$/;

export function writePosition({ place, total, span }: PagePosition, sources: readonly LogSource[]): string {
  const { time, rank, ordinal } = place;
  const { namespace = '', pod = '', container = '', previous = false, run } = sources[rank] ?? {};
  const count = `${total.count}${total.relation === 'eq' ? 'e' : 'g'}`;
  return [time, namespace, pod, container, previous ? 'p' : 'c', ordinal, count, span, run?.id ?? ''].join(
    '/',
  );
}

/**
 * The place is one among `sources`; between two of them when the log is no longer there. Throws NotSupported for what
 * writePosition has not written.
 */
export function readPosition(text: string, sources: readonly LogSource[]): PagePosition {
  const [
    ,
    time = '',
    namespace = '',
    pod = '',
    container = '',
    which,
    ordinal,
    count,
    relation,
    span,
    id = '',
  ] = PATTERN.exec(text) ?? [];
  if (!isInstant(time)) throw newForeignCursor(STORE);
  const source = { namespace, pod, container, previous: which === 'p' };
  return {
    place: { time, rank: rankOf(source, id, sources), ordinal: Number(ordinal) },
    total: { count: Number(count), relation: relation === 'e' ? 'eq' : 'gte' },
    span: Number(span),
  };
}

function rankOf(source: Named, id: string, sources: readonly LogSource[]): number {
  if (id === '') return rankByName(source, sources);
  // The run that was current when the page was read may be the previous one by now, or gone.
  const at = sources.findIndex((other) => other.run.id === id && isOf(other, source));
  if (at !== -1) return at;
  const before = rankByName({ ...source, previous: true }, sources);
  return Number.isInteger(before) ? before - 0.5 : before;
}

function isOf(source: LogSource, { namespace, pod, container }: Named): boolean {
  return source.namespace === namespace && source.pod === pod && source.container === container;
}

function rankByName(source: Named, sources: readonly LogSource[]): number {
  const next = sources.findIndex((other) => compareSources(other, source) >= 0);
  const at = next === -1 ? sources.length : next;
  const same = sources[at];
  return same && compareSources(same, source) === 0 ? at : at - 0.5;
}
