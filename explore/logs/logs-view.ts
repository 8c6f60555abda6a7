// The view of logs: filters, a histogram by level, the lines, and a live tail. Its address reproduces it.
import type { LogPage, Shortfall, TimeRange } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { changedURL } from '../route.ts';
import { CopyButton, toggle } from '../ui/controls.ts';
import { failure, liveState, notice } from '../ui/notice.ts';
import { ExportMenu } from './export-menu.ts';
import { Histogram, useHistogram } from './histogram.ts';
import { LogAccess } from './log-access.ts';
import { LogFilters, textError } from './log-filters.ts';
import { LogLines } from './log-lines.ts';
import { absolute, filtersOf, lastOf, namesIn, rangeOf } from './log-query.ts';
import { useLogs } from './use-logs.ts';

export function LogsView(): ComponentChildren {
  const { route, change } = useExplore();
  const { query } = route;
  const isLive = query.has('follow');
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
  const follow = { follow: 'true', start_time: undefined, end_time: undefined, last: lastOf(query) ?? '15m' };
  const exactURL = location.origin + changedURL(route, absolute(range));
  const { page, tail, lines } = logs;
  const showEarlier = (): void => {
    const end_time = Math.floor(Date.parse(lines[0]?.time ?? '') / 1000);
    change(absolute({ ...range, end_time }));
  };
  return h('div', { class: 'logs stack' }, [
    h('div', { class: 'row' }, [
      h('h1', { tabIndex: -1 }, 'Logs'),
      h('p', { class: 'muted', role: 'status' }, error ? '' : page ? totalOf(page) : 'Searching …'),
      h('span', { class: 'fill' }),
      toggle('Live', isLive, (isOn) => change(isOn ? follow : { follow: undefined })),
      toggle('Wrap', query.has('wrap'), (isOn) => change({ wrap: isOn ? 'true' : undefined })),
      h('button', { onClick: retry }, 'Search again'),
      h(CopyButton, { label: 'Copy link', title: 'With the exact times', text: exactURL }),
      h(ExportMenu, { query: { ...filters, ...range } }),
    ]),
    h(LogFilters, { range, buckets: counted?.buckets, error }),
    h(LogAccess, { namespaces: namesIn(query, 'namespaces') }),
    counted && !countError ? h(Histogram, counted) : h('div', { class: 'histogram' }),
    missing(page?.partial ?? counted?.partial),
    error && textError(error) === '' && failure(error, retry),
    tail.error && failure(tail.error, tail.retry),
    isLive &&
      h('div', { class: 'row' }, [
        liveState(tail, isPaused, pause),
        isPaused && h('span', { class: 'muted' }, `${logs.waiting.toLocaleString()} new lines`),
      ]),
    h(LogLines, {
      logs,
      page: key,
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
  return notice(tone, h('details', {}, [h('summary', {}, 'Lines are missing.'), messages]));
}
