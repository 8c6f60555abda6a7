// The view of logs: filters, a histogram by level, the lines, and a live tail. Its address reproduces it.
import type { LogPage } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Changes, type LogsRoute, navigate, queryOf, urlOf, withQuery } from '../route.ts';
import { LiveState } from '../ui/live-state.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { ExportMenu } from './export-menu.ts';
import { Histogram } from './histogram.ts';
import { LogAccess } from './log-access.ts';
import { isAtField, LogFilters } from './log-filters.ts';
import { LogLines } from './log-lines.ts';
import { absolute, filtersOf, lastOf, namesIn, rangeOf, SEVERITIES, type TimeRange } from './log-query.ts';
import { Partial } from './partial.ts';
import { useHistogram, useLogs } from './use-logs.ts';
import { type Tail, useTail } from './use-tail.ts';

export function LogsView({ route }: { readonly route: LogsRoute }): ComponentChildren {
  const { query } = route;
  const isLive = query.has('follow');
  const isWrapped = query.has('wrap');
  const [attempt, setAttempt] = useState(0);
  const retry = (): void => setAttempt((count) => count + 1);
  const [isPaused, setPaused] = useState(false);
  const filters = filtersOf(query);
  // Only these parameters send the query again.
  const times = ['last', 'start_time', 'end_time'].map((name) => query.get(name));
  const key = JSON.stringify([filters, times, attempt]);
  const range = useMemo(() => rangeOf(query, Date.now()), [key]);
  const logs = useLogs(filters, range, key);
  const rangeNow = (): TimeRange => (isLive ? rangeOf(query, Date.now()) : range);
  const { value: counted, error: countError } = useHistogram(filters, rangeNow, key, isLive);
  const tailKey = isLive && logs.isReady ? key : undefined;
  const tail = useTail({ key: tailKey, query: filters, isPaused, resume: logs.resume, add: logs.add });
  useEffect(() => setPaused(false), [key, isLive]);
  const change = (changes: Changes): void => navigate(withQuery(route, changes));
  const zoom = (to: TimeRange): void => change({ ...absolute(to), follow: undefined });
  const follow = (): void =>
    change(
      isLive
        ? { follow: undefined }
        : { follow: 'true', start_time: undefined, end_time: undefined, last: lastOf(query) ?? '15m' },
    );
  const { page, error, isLoading, blocks, older } = logs;
  const levels = namesIn(query, 'level');
  return h('div', { class: 'logs' }, [
    h('div', { class: 'log-row logs-head' }, [
      h('h1', { tabIndex: -1 }, 'Logs'),
      h('p', { class: 'muted', role: 'status' }, error ? '' : page ? totalOf(page) : 'Searching …'),
      h('div', { class: 'log-row logs-actions' }, [
        h('button', { class: 'chip live', 'aria-pressed': isLive, onClick: follow }, 'Live'),
        h(
          'button',
          {
            class: 'chip',
            'aria-pressed': isWrapped,
            onClick: () => change({ wrap: isWrapped ? undefined : 'true' }),
          },
          'Wrap',
        ),
        h('button', { onClick: retry }, 'Search again'),
        h('button', { onClick: () => zoom(wider(range)) }, 'Zoom out'),
        h(CopyLink, { route, range }),
        h(ExportMenu, { query: { ...filters, start_time: range.start, end_time: range.end } }),
      ]),
    ]),
    h(LogFilters, {
      ...{ route, range, histogram: counted?.histogram, error: error ?? countError },
      containers: () => new Set(blocks.flatMap(({ lines }) => lines.map(({ container }) => container))),
    }),
    h(LogAccess, { namespaces: namesIn(query, 'namespaces') }),
    counted && !countError
      ? h(Histogram, {
          ...counted,
          zoom,
          shown: SEVERITIES.filter((each) => levels.length === 0 || levels.includes(each)),
        })
      : h('div', { class: 'histogram' }),
    h(Partial, { partial: page?.partial ?? counted?.histogram.partial }),
    error && !isAtField(error) && h(Failure, { error, retry }),
    isLive && h(TailState, { tail, isPaused, pause: setPaused, retry }),
    h(
      LogLines,
      {
        ...{ blocks, page: key, isWrapped, isBusy: isLoading, older },
        hasDate: range.end - range.start > 43_200,
        isFollowing: isLive && !isPaused,
        leave: () => setPaused(true),
        of: ({ namespace, pod }) => queryOf({ namespaces: namespace, pods: pod, ...absolute(range) }),
      },
      page?.cursor !== undefined && blocks.length > 0
        ? h(
            'button',
            { class: 'quiet older', disabled: isLoading, onClick: older },
            isLoading ? 'Loading …' : 'Load older lines',
          )
        : blocks.length === 0 &&
            !isLoading &&
            !error &&
            h(
              'p',
              { class: 'muted empty' },
              isLive ? 'No lines yet.' : 'No line matches the filters in this time range.',
            ),
    ),
  ]);
}

interface TailStateProps {
  readonly tail: Tail;
  readonly isPaused: boolean;
  readonly pause: (isPaused: boolean) => void;
  readonly retry: () => void;
}

function TailState({ tail, isPaused, pause, retry }: TailStateProps): ComponentChildren {
  const { connection, waiting, dropped, rate, error, hasNewScope } = tail;
  if (error) return h(Failure, { error, retry });
  const lost = dropped > 0 ? `, ${dropped.toLocaleString()} dropped` : '';
  const moved = 'Your permissions have changed. The tail has started again with the new ones.';
  return h('div', { class: 'log-row' }, [
    h(LiveState, { connection, error, isPaused, pause }),
    h('span', { class: 'muted' }, `${rate} lines/s`),
    isPaused && h('span', { class: 'muted' }, `${waiting.toLocaleString()} new lines${lost}`),
    hasNewScope && h(Notice, { tone: 'info' }, moved),
  ]);
}

interface CopyLinkProps {
  readonly route: LogsRoute;
  readonly range: TimeRange;
}

function CopyLink({ route, range }: CopyLinkProps): ComponentChildren {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => setCopied(false), [route]);
  const copy = (): void => {
    const exact = withQuery(route, { ...absolute(range), follow: undefined });
    // Without the permission to write to the clipboard, the link is in the address bar.
    navigator.clipboard.writeText(`${location.origin}${urlOf(exact)}`).then(
      () => setCopied(true),
      () => navigate(exact),
    );
  };
  return h(
    'button',
    { title: 'With the exact times', onClick: copy },
    isCopied ? 'Link copied' : 'Copy link',
  );
}

function wider({ start, end }: TimeRange): TimeRange {
  const margin = Math.max(1, Math.ceil((end - start) / 2));
  return { start: Math.max(0, start - margin), end: Math.min(end + margin, Math.floor(Date.now() / 1000)) };
}

function totalOf({ total, totalRelation }: LogPage): string {
  const count = `${total.toLocaleString()} ${total === 1 ? 'line' : 'lines'}`;
  return totalRelation === 'gte' ? `At least ${count}` : count;
}
