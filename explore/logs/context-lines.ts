// The lines of a container before and after a line, more of them on demand.
import type { LogPage, LogRecord } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { Failure } from '../ui/notice.ts';
import { LineText } from './line-text.ts';
import { clockOf } from './log-query.ts';
import { Partial } from './partial.ts';
import { asError } from './use-tail.ts';

const STEP = 20;
const MAX = 500;
const LIMIT = 2_000;

export function ContextLines({ record: { id } }: { readonly record: LogRecord }): ComponentChildren {
  const { client } = useExplore();
  const [{ before, after }, setCounts] = useState({ before: STEP / 2, after: STEP / 2 });
  const [page, setPage] = useState<LogPage>();
  const [error, setError] = useState<Error>();
  const current = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => current.current?.scrollIntoView({ block: 'center' }), [page]);
  useEffect(() => {
    const ended = new AbortController();
    setError(undefined);
    client.logs
      .context(id, { before, after, severity: true }, { signal: ended.signal })
      .then(setPage, (cause: unknown) => {
        if (!ended.signal.aborted) setError(asError(cause));
      });
    return () => ended.abort();
  }, [id, before, after]);
  if (error) return h(Failure, { error, retry: () => setCounts({ before, after }) });
  if (!page) return h('p', { class: 'muted', role: 'status' }, 'Loading …');
  const at = page.records.findIndex((each) => each.id === id);
  const more = (
    label: string,
    isPossible: boolean,
    counts: { before: number; after: number },
  ): ComponentChildren =>
    isPossible && h('button', { type: 'button', class: 'quiet', onClick: () => setCounts(counts) }, label);
  return h('section', { class: 'log-context', 'aria-label': 'Lines around it' }, [
    h(Partial, { partial: page.partial }),
    more(`${STEP} lines before`, at >= before && before < MAX, {
      before: Math.min(MAX, before + STEP),
      after,
    }),
    h(
      'ol',
      {},
      page.records.map(({ id: each, time, log, severity }, index) =>
        h(
          'li',
          {
            key: `${each} ${index}`,
            'data-severity': severity,
            ...(index === at ? { 'aria-current': 'true', ref: current } : {}),
          },
          [
            h('time', { dateTime: time, class: 'muted' }, clockOf(time, { millis: true })),
            ' ',
            h(LineText, { text: log, limit: LIMIT }),
          ],
        ),
      ),
    ),
    more(`${STEP} lines after`, page.records.length - at - 1 >= after && after < MAX, {
      before,
      after: Math.min(MAX, after + STEP),
    }),
  ]);
}
