// Position in a page cursor: the last line of the page, the total, and the time span of the page. With the total, the
// next page need not read all logs. The cursor contains the name of the line's log, because its index in the list of
// selected logs (`rank`) can change between requests.
import { isInstant } from '../../instant.ts';
import type { Total } from '../../log-store.ts';
import { newForeignCursor } from '../../store-errors.ts';
import { type ContainerLog, compareLogs, type LogName, STORE } from './container-log.ts';
import type { LinePosition } from './log-line.ts';

export interface PagePosition {
  /** Position of the last line. */
  readonly line: LinePosition;
  readonly total: Total;
  /** Milliseconds between the first and the last line of the page. */
  readonly span: number;
}

const PATTERN =
  /^([^/]{30})\/([^/]{1,63})\/([^/]{1,253})\/([^/]{1,63})\/([pc])\/(\d{1,9})\/(\d{1,15})([eg])\/(\d{1,15})\/(.{0,24})$/;

export function formatPosition({ line, total, span }: PagePosition, logs: readonly ContainerLog[]): string {
  const { time, rank, ordinal } = line;
  const { namespace = '', pod = '', container = '', previous = false, run } = logs[rank] ?? {};
  const count = `${total.count}${total.relation === 'eq' ? 'e' : 'g'}`;
  const parts = [time, namespace, pod, container, previous ? 'p' : 'c', ordinal, count, span, run?.id ?? ''];
  return parts.join('/');
}

/**
 * Parses a position. If its log no longer exists, the rank lies halfway between two logs, such as 2.5. Throws
 * NotSupported for invalid text.
 */
export function parsePosition(text: string, logs: readonly ContainerLog[]): PagePosition {
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
  const name = { namespace, pod, container, previous: which === 'p' };
  return {
    line: { time, rank: rankOf(name, id, logs), ordinal: Number(ordinal) },
    total: { count: Number(count), relation: relation === 'e' ? 'eq' : 'gte' },
    span: Number(span),
  };
}

function rankOf(name: LogName, id: string, logs: readonly ContainerLog[]): number {
  if (id === '') return rankByName(name, logs);
  // After a restart, the current run of the last page is the previous run, or its log is deleted.
  const { namespace, pod, container } = name;
  const rank = logs.findIndex(
    (log) =>
      log.run.id === id && log.namespace === namespace && log.pod === pod && log.container === container,
  );
  if (rank !== -1) return rank;
  const before = rankByName({ ...name, previous: true }, logs);
  return Number.isInteger(before) ? before - 0.5 : before;
}

function rankByName(name: LogName, logs: readonly ContainerLog[]): number {
  const next = logs.findIndex((log) => compareLogs(log, name) >= 0);
  const rank = next === -1 ? logs.length : next;
  const log = logs[rank];
  return log && compareLogs(log, name) === 0 ? rank : rank - 0.5;
}
