// The lines of a container before and after a line.
import type { LogRecord } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { Failure } from '../ui/notice.ts';
import { useLoaded } from '../ui/use-live.ts';
import { LineText } from './line-text.ts';
import { clockOf } from './log-query.ts';

/** Number of lines before and after. */
const COUNT = 20;
/** Maximum number of characters of a line. */
const LIMIT = 2_000;

export function ContextLines({ record: { id } }: { readonly record: LogRecord }): ComponentChildren {
  const { client } = useExplore();
  const query = { before: COUNT, after: COUNT, severity: true };
  const {
    value: page,
    error,
    retry,
  } = useLoaded((signal) => client.logs.context(id, query, { signal }), [id]);
  const current = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => current.current?.scrollIntoView({ block: 'center' }), [page]);
  if (error) return h(Failure, { error, retry });
  if (!page) return h('p', { class: 'muted', role: 'status' }, 'Loading …');
  const line = ({ id: each, time, log, severity }: LogRecord): ComponentChildren => {
    const mark = each === id ? { 'aria-current': 'true' as const, ref: current } : {};
    return h('li', { 'data-severity': severity, ...mark }, [
      h('time', { dateTime: time, class: 'muted' }, clockOf(time)),
      ' ',
      h(LineText, { text: log, limit: LIMIT }),
    ]);
  };
  return h('ol', { class: 'log-context', 'aria-label': 'Lines around it' }, page.records.map(line));
}
