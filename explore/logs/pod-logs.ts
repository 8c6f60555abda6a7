// The logs of an object's pods: the last lines, which new lines follow, and a link to the view of logs.
import { type ComponentChildren, h } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { link, queryOf } from '../route.ts';
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
  const tailKey = logs.isReady ? key : undefined;
  const { resume, add } = logs;
  const tail = useTail({ key: tailKey, query: filtersOf(query), isPaused, resume, add });
  const error = logs.error ?? tail.error;
  return h('section', { class: 'pod-logs', 'aria-label': 'Logs' }, [
    h('div', { class: 'log-row logs-head' }, [
      h('h2', {}, 'Logs'),
      h('a', link({ view: 'logs', query }), 'Search in these logs'),
    ]),
    h(Partial, { partial: logs.page?.partial }),
    error && h(Failure, { error }),
    isPaused &&
      h(
        'button',
        { onClick: () => setPaused(false) },
        `Continue with ${tail.waiting.toLocaleString()} new lines`,
      ),
    h(
      LogLines,
      {
        ...{ blocks: logs.blocks, page: key, isWrapped: false, isBusy: logs.isLoading, hasDate: true },
        isFollowing: !isPaused,
        leave: () => setPaused(true),
        of: ({ pod }) => queryOf({ pods: pod }, query),
      },
      logs.blocks.length === 0 &&
        h('p', { class: 'muted empty' }, logs.isLoading ? 'Loading …' : 'No lines in the last 24 hours.'),
    ),
  ]);
}
