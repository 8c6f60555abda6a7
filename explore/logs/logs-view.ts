// The view of logs: filters, a histogram by level, the lines, and a live tail. Its address reproduces it.
import type { LogRecord } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Changes, type LogsRoute, navigate, queryOf, urlOf, withQuery } from '../route.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { ExportMenu } from './export-menu.ts';
import { Histogram } from './histogram.ts';
import { LogAccess } from './log-access.ts';
import { isAtField, LogFilters } from './log-filters.ts';
import { LogLines } from './log-lines.ts';
import {
  absolute,
  filtersOf,
  intervalOf,
  lastOf,
  namesIn,
  rangeOf,
  SEVERITIES,
  type TimeRange,
} from './log-query.ts';
import { Partial } from './partial.ts';
import { useHistogram, useLogs } from './use-logs.ts';
import { useTail } from './use-tail.ts';

export function LogsView({ route }: { readonly route: LogsRoute }): ComponentChildren {
  const { query } = route;
  const isLive = query.has('follow');
  const isWrapped = query.has('wrap');
  const [attempt, setAttempt] = useState(0);
  const [isPaused, setPaused] = useState(false);
  const filters = filtersOf(query);
  // Only these parameters send the query again.
  const key = JSON.stringify([
    filters,
    ...['last', 'start_time', 'end_time'].map((name) => query.get(name)),
    attempt,
  ]);
  const range = useMemo(() => rangeOf(query, Date.now()), [key]);
  const logs = useLogs(filters, range, key);
  const refresh = useRefresh(isLive, key);
  const counted = useHistogram(
    filters,
    useMemo(() => rangeOf(query, Date.now()), [key, refresh]),
    `${key} ${refresh}`,
  );
  const tail = useTail({
    key: isLive && logs.isReady ? key : undefined,
    query: filters,
    isPaused,
    resume: logs.resume,
    add: logs.add,
  });
  useEffect(() => setPaused(false), [key, isLive]);
  const change = (changes: Changes): void => navigate(withQuery(route, changes));
  const zoom = (to: TimeRange): void => change({ ...absolute(to), follow: undefined });
  const { page, error } = logs;
  const lines = logs.blocks.reduce((sum, block) => sum + block.lines.length, 0);
  const levels = namesIn(query, 'level');
  return h('div', { class: 'logs' }, [
    h('div', { class: 'logs-head' }, [
      h('h1', { tabIndex: -1 }, 'Logs'),
      h('p', { class: 'muted', role: 'status' }, error ? '' : page ? totalOf(page) : 'Searching …'),
      h('div', { class: 'logs-actions' }, [
        h(
          'button',
          {
            ...{ type: 'button', class: 'chip live', 'aria-pressed': isLive },
            onClick: () => change(isLive ? { follow: undefined } : { follow: 'true', ...forLive(query) }),
          },
          'Live',
        ),
        h(
          'button',
          {
            type: 'button',
            class: 'chip',
            'aria-pressed': isWrapped,
            onClick: () => change({ wrap: isWrapped ? undefined : 'true' }),
          },
          'Wrap',
        ),
        h('button', { type: 'button', onClick: () => setAttempt((count) => count + 1) }, 'Search again'),
        h('button', { type: 'button', onClick: () => zoom(wider(range)) }, 'Zoom out'),
        h(CopyLink, { route, range }),
        h(ExportMenu, { query: { ...filters, start_time: range.start, end_time: range.end } }),
      ]),
    ]),
    h(LogFilters, {
      ...{ route, range, histogram: counted.histogram, error: error ?? counted.error },
      containers: () => [
        ...new Set(logs.blocks.flatMap((block) => block.lines.map(({ container }) => container))),
      ],
    }),
    h(LogAccess, { namespaces: namesIn(query, 'namespaces') }),
    counted.histogram
      ? h(Histogram, {
          ...{
            histogram: counted.histogram,
            range: counted.range,
            step: intervalOf(counted.range).seconds,
            zoom,
          },
          shown: levels.length === 0 ? SEVERITIES : SEVERITIES.filter((each) => levels.includes(each)),
        })
      : h('div', { class: 'histogram' }),
    h(Partial, { partial: page?.partial ?? counted.histogram?.partial }),
    error && !isAtField(error) && h(Failure, { error, retry: () => setAttempt((count) => count + 1) }),
    isLive &&
      h(TailState, { tail, isPaused, pause: setPaused, retry: () => setAttempt((count) => count + 1) }),
    h(
      LogLines,
      {
        ...{ blocks: logs.blocks, page: key, isWrapped, isBusy: logs.isLoading, older: logs.older },
        hasDate: range.end - range.start > 43_200,
        isFollowing: isLive && !isPaused,
        leave: () => setPaused(true),
        of: ({ namespace, pod }: LogRecord): LogsRoute => ({
          view: 'logs',
          query: queryOf({ namespaces: namespace, pods: pod, ...absolute(range) }),
        }),
      },
      page?.cursor !== undefined && lines > 0
        ? h(
            'button',
            { type: 'button', class: 'quiet older', disabled: logs.isLoading, onClick: logs.older },
            logs.isLoading ? 'Loading …' : 'Load older lines',
          )
        : lines === 0 &&
            !logs.isLoading &&
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
  readonly tail: ReturnType<typeof useTail>;
  readonly isPaused: boolean;
  readonly pause: (isPaused: boolean) => void;
  readonly retry: () => void;
}

function TailState({ tail, isPaused, pause, retry }: TailStateProps): ComponentChildren {
  const { connection, waiting, dropped, rate, error, hasNewScope } = tail;
  if (error) return h(Failure, { error, retry });
  const state =
    connection === undefined ? 'Connecting' : connection.state === 'open' ? 'Live' : 'Not connected';
  const tone = isPaused || !connection ? 'idle' : connection.state === 'open' ? 'good' : 'warn';
  return h('div', { class: 'tail-state' }, [
    h('span', { class: 'status', 'data-tone': tone, role: 'status' }, isPaused ? 'Paused' : state),
    h('span', { class: 'muted' }, `${rate} lines/s`),
    h(
      'button',
      { type: 'button', 'aria-pressed': isPaused, onClick: () => pause(!isPaused) },
      isPaused ? 'Resume' : 'Pause',
    ),
    isPaused &&
      h(
        'span',
        { class: 'muted' },
        `${waiting.toLocaleString()} new lines${dropped > 0 ? `, ${dropped.toLocaleString()} dropped` : ''}`,
      ),
    hasNewScope &&
      h(
        Notice,
        { tone: 'info' },
        'Your permissions have changed. The tail has started again with the new ones.',
      ),
  ]);
}

function CopyLink({
  route,
  range,
}: {
  readonly route: LogsRoute;
  readonly range: TimeRange;
}): ComponentChildren {
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
    { type: 'button', title: 'With the exact times', onClick: copy },
    isCopied ? 'Link copied' : 'Copy link',
  );
}

/** Interval of a new histogram while the view is live, in ms. */
const REFRESH_MS = 15_000;

function useRefresh(isLive: boolean, key: string): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (!isLive) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) setCount((before) => before + 1);
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [isLive, key]);
  return count;
}

/** A live view ends now. */
function forLive(query: URLSearchParams): Changes {
  return { start_time: undefined, end_time: undefined, last: lastOf(query) ?? '15m' };
}

function wider({ start, end }: TimeRange): TimeRange {
  const margin = Math.max(1, Math.ceil((end - start) / 2));
  return { start: Math.max(0, start - margin), end: Math.min(end + margin, Math.floor(Date.now() / 1000)) };
}

function totalOf({
  total,
  totalRelation,
}: {
  readonly total: number;
  readonly totalRelation: 'eq' | 'gte';
}): string {
  const count = `${total.toLocaleString()} ${total === 1 ? 'line' : 'lines'}`;
  return totalRelation === 'gte' ? `At least ${count}` : count;
}
