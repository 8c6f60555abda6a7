// The view of logs: filters, a histogram by level, the lines, and a live tail. Its address reproduces it.
import type { LogPage, Shortfall } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Changes, type LogsRoute, navigate, urlOf, withQuery } from '../route.ts';
import { CopyButton } from '../ui/copy-button.ts';
import { LiveState } from '../ui/live-state.ts';
import { Failure, Notice } from '../ui/notice.ts';
import { Toggle } from '../ui/toggle.ts';
import { ExportMenu } from './export-menu.ts';
import { Histogram } from './histogram.ts';
import { LogAccess } from './log-access.ts';
import { LogFilters, textError } from './log-filters.ts';
import { LogLines } from './log-lines.ts';
import { absolute, filtersOf, lastOf, namesIn, rangeOf, SEVERITIES, type TimeRange } from './log-query.ts';
import { useHistogram } from './use-histogram.ts';
import { useLogs } from './use-logs.ts';

export function LogsView({ route }: { readonly route: LogsRoute }): ComponentChildren {
  const { query } = route;
  const isLive = query.has('follow');
  const isWrapped = query.has('wrap');
  const [attempt, setAttempt] = useState(0);
  const [isPaused, pause] = useState(false);
  const filters = filtersOf(query);
  // Only these parameters send the query again.
  const times = ['last', 'start_time', 'end_time'].map((name) => query.get(name));
  const key = JSON.stringify([filters, times, attempt]);
  const range = useMemo(() => rangeOf(query, Date.now()), [key]);
  const logs = useLogs({ query: filters, range, key, isLive, isPaused });
  const rangeNow = (): TimeRange => (isLive ? rangeOf(query, Date.now()) : range);
  const { value: counted, error: countError } = useHistogram(filters, rangeNow, key, isLive);
  const error = logs.error ?? countError;
  const retry = (): void => setAttempt(attempt + 1);
  useEffect(() => pause(false), [key, isLive]);
  const change = (changes: Changes): void => navigate(withQuery(route, changes));
  const follow = { follow: 'true', start_time: undefined, end_time: undefined, last: lastOf(query) ?? '15m' };
  const exact = withQuery(route, { ...absolute(range), follow: undefined });
  const levels = namesIn(query, 'level');
  const { page, tail, lines } = logs;
  const showEarlier = (): void => {
    const end = Math.floor(Date.parse(lines[0]?.time ?? '') / 1000);
    change({ ...absolute({ start: range.start, end }), follow: undefined });
  };
  return h('div', { class: 'logs stack' }, [
    h('div', { class: 'row' }, [
      h('h1', { tabIndex: -1 }, 'Logs'),
      h('p', { class: 'muted', role: 'status' }, error ? '' : page ? totalOf(page) : 'Searching …'),
      h('span', { class: 'fill' }),
      h(Toggle, { isOn: isLive, onClick: () => change(isLive ? { follow: undefined } : follow) }, 'Live'),
      h(Toggle, { isOn: isWrapped, onClick: () => change({ wrap: isWrapped ? undefined : 'true' }) }, 'Wrap'),
      h('button', { onClick: retry }, 'Search again'),
      h(CopyButton, {
        label: 'Copy link',
        title: 'With the exact times',
        text: `${location.origin}${urlOf(exact)}`,
      }),
      h(ExportMenu, { query: { ...filters, start_time: range.start, end_time: range.end } }),
    ]),
    h(LogFilters, { route, range, histogram: counted?.histogram, error }),
    h(LogAccess, { namespaces: namesIn(query, 'namespaces') }),
    counted && !countError
      ? h(Histogram, {
          ...counted,
          zoom: (to) => change({ ...absolute(to), follow: undefined }),
          shown: SEVERITIES.filter((each) => levels.length === 0 || levels.includes(each)),
        })
      : h('div', { class: 'histogram' }),
    missing(page?.partial ?? counted?.histogram.partial),
    error && textError(error) === '' && h(Failure, { error, retry }),
    tail.error && h(Failure, { error: tail.error, retry: tail.retry }),
    isLive &&
      h('div', { class: 'row' }, [
        h(LiveState, { connection: tail.connection, error: tail.error, isPaused, pause }),
        isPaused && h('span', { class: 'muted' }, `${tail.waiting.toLocaleString()} new lines`),
      ]),
    h(LogLines, {
      logs,
      page: key,
      isWrapped,
      isFollowing: isLive && !isPaused,
      leave: () => pause(true),
      showEarlier,
      none: isLive ? 'No lines yet.' : 'No line matches the filters in this time range.',
    }),
  ]);
}

function totalOf({ total, totalRelation }: LogPage): string {
  const count = `${total.toLocaleString()} ${total === 1 ? 'line' : 'lines'}`;
  return totalRelation === 'gte' ? `At least ${count}` : count;
}

/** What is missing in a result, in the words of the server. */
function missing(partial: readonly Shortfall[] = []): ComponentChildren {
  if (partial.length === 0) return null;
  // Rotation and restarts are usual, and nothing failed.
  const tone = partial.every(({ reason }) => reason === 'NotCovered') ? 'info' : 'warn';
  const messages = partial.map(({ message }) => h('p', {}, message));
  return h(Notice, { tone }, h('details', {}, [h('summary', {}, 'Lines are missing.'), messages]));
}
