// The lines of a container before and after a line, more of them on demand.
import type { LogRecord } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { Failure } from '../ui/notice.ts';
import { useLoaded } from '../ui/use-live.ts';
import { LineText } from './line-text.ts';
import { clockOf } from './log-query.ts';
import { Partial } from './partial.ts';

const STEP = 20;
/** Maximum number of lines before and after. */
const MAX = 490;
const LIMIT = 2_000;

export function ContextLines({ record: { id } }: { readonly record: LogRecord }): ComponentChildren {
  const { client } = useExplore();
  const [{ before, after }, setCounts] = useState({ before: STEP / 2, after: STEP / 2 });
  const load = (signal: AbortSignal) =>
    client.logs.context(id, { before, after, severity: true }, { signal });
  const { value: page, error, retry } = useLoaded(load, [id, before, after]);
  const current = useRef<HTMLLIElement>(null);
  useLayoutEffect(() => current.current?.scrollIntoView({ block: 'center' }), [page?.records.length]);
  if (error) return h(Failure, { error, retry });
  if (!page) return h('p', { class: 'muted', role: 'status' }, 'Loading …');
  const at = page.records.findIndex((each) => each.id === id);
  const more = (place: string, isPossible: boolean, onClick: () => void): ComponentChildren =>
    isPossible && h('button', { class: 'quiet', onClick }, `${STEP} lines ${place}`);
  return h('section', { class: 'log-context', 'aria-label': 'Lines around it' }, [
    h(Partial, { partial: page.partial }),
    more('before', at >= before && before < MAX, () => setCounts({ before: before + STEP, after })),
    h(
      'ol',
      {},
      page.records.map(({ id: each, time, log, severity }, index) =>
        h(
          'li',
          {
            ...{ key: `${each} ${index}`, 'data-severity': severity },
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
    more('after', page.records.length - at - 1 >= after && after < MAX, () =>
      setCounts({ before, after: after + STEP }),
    ),
  ]);
}
