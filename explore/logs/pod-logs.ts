// The logs of an object's pods: the last lines, which new lines follow, and a link to the view of logs.
import { type ComponentChildren, h } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type LogsRoute, link, queryOf } from '../route.ts';
import { Failure } from '../ui/notice.ts';
import { LogLines } from './log-lines.ts';
import { filtersOf, rangeOf } from './log-query.ts';
import { Partial } from './partial.ts';
import { useLogs } from './use-logs.ts';
import { useTail } from './use-tail.ts';

export interface PodLogsProps {
  readonly namespace: string;
  readonly pods: readonly string[];
}

export function PodLogs({ namespace, pods }: PodLogsProps): ComponentChildren {
  const query = queryOf({ namespaces: namespace, pods: pods.join(','), last: '24h', follow: 'true' });
  const key = query.toString();
  const [isPaused, setPaused] = useState(false);
  const range = useMemo(() => rangeOf(query, Date.now()), [key]);
  const logs = useLogs(filtersOf(query), range, key);
  const tail = useTail({
    key: logs.isReady ? key : undefined,
    query: filtersOf(query),
    isPaused,
    resume: logs.resume,
    add: logs.add,
  });
  const error = logs.error ?? tail.error;
  const route: LogsRoute = { view: 'logs', query };
  return h('section', { class: 'pod-logs', 'aria-label': 'Logs' }, [
    h('div', { class: 'logs-head' }, [h('h2', {}, 'Logs'), h('a', link(route), 'Search in these logs')]),
    h(Partial, { partial: logs.page?.partial }),
    error && h(Failure, { error }),
    isPaused &&
      h(
        'button',
        { type: 'button', onClick: () => setPaused(false) },
        `Continue with ${tail.waiting.toLocaleString()} new lines`,
      ),
    h(
      LogLines,
      {
        ...{ blocks: logs.blocks, page: key, isWrapped: false, isBusy: logs.isLoading, hasDate: true },
        isFollowing: !isPaused,
        leave: () => setPaused(true),
        of: ({ pod }) => ({ view: 'logs', query: queryOf({ pods: pod }, query) }),
      },
      logs.blocks.length === 0 &&
        h('p', { class: 'muted empty' }, logs.isLoading ? 'Loading …' : 'No lines in the last 24 hours.'),
    ),
  ]);
}
