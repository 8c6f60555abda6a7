// The view of logs: filters, a histogram by level, the lines, and a live tail. Its address reproduces it.
import {
  type LogPage,
  logFiltersIn,
  relativeRangeIn,
  type Shortfall,
  timeRangeIn,
} from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { serverClock } from '../page.ts';
import { absolute, changedURL } from '../route.ts';
import { CopyButton, toggle } from '../ui/controls.ts';
import { failure, liveState, notice } from '../ui/notice.ts';
import { useLoaded } from '../ui/use-live.ts';
import { ExportMenu } from './export-menu.ts';
import { Histogram } from './histogram.ts';
import { LogFilters, textError } from './log-filters.ts';
import { LogLines } from './log-lines.ts';
import { useLogs } from './use-logs.ts';

/** Pause before the next histogram while the view is live, in ms. */
const REFRESH_MS = 15_000;
const MAX_BUCKETS = 120;

export function LogsView(): ComponentChildren {
  const { client, route, change } = useExplore();
  const { query } = route;
  const isLive = query.has('follow');
  const [attempt, setAttempt] = useState(0);
  const [isPaused, pause] = useState(false);
  const filters = logFiltersIn(query);
  // Only these parameters send the query again.
  const times = ['last', 'start_time', 'end_time'].map((name) => query.get(name));
  const key = JSON.stringify([filters, times, attempt]);
  const range = useMemo(() => timeRangeIn(query, serverClock.now()), [key]);
  const logs = useLogs({ query: filters, range, key, isLive, isPaused });
  // All levels: those of the query are only shown or hidden.
  const count = (signal: AbortSignal) => {
    const counting = {
      ...filters,
      level: undefined,
      ...(isLive ? timeRangeIn(query, serverClock.now()) : range),
    };
    return client.logs.severities(counting, MAX_BUCKETS, { signal });
  };
  const { value: counted, error: countError } = useLoaded(count, [key], isLive ? REFRESH_MS : 0);
  const error = logs.error ?? countError;
  const retry = (): void => setAttempt(attempt + 1);
  useEffect(() => pause(false), [key, isLive]);
  const last = relativeRangeIn(query) ?? '15m';
  const follow = { follow: 'true', last, start_time: undefined, end_time: undefined };
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
      toggle('Follow', isLive, (isOn) => change(isOn ? follow : { follow: undefined })),
      toggle('Wrap', query.has('wrap'), (isOn) => change({ wrap: isOn ? 'true' : undefined })),
      h('button', { onClick: retry }, 'Search again'),
      h(CopyButton, { label: 'Copy link', title: 'With the exact times', text: exactURL }),
      h(ExportMenu, { query: { ...filters, ...range } }),
    ]),
    h(LogFilters, { range, buckets: counted?.histograms, error }),
    accessText(page?.scope, filters.namespaces),
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

const PERMISSION = h('code', {}, 'get pods/log');

/**
 * The namespaces whose logs the user may read: log queries return only lines of namespaces with the permission `get pods/log`,
 * and no error for the others. `chosen`: those of the query.
 */
function accessText(scope: LogPage['scope'], chosen: readonly string[] = []): ComponentChildren {
  if (!scope) return null;
  const { total, namespaces } = scope;
  if (total === 0) {
    const rest = ` to read logs, and do not have it in ${chosen.join(', ') || 'any namespace'}.`;
    return notice('warn', ['You need the permission ', PERMISSION, rest]);
  }
  return h('p', { class: 'muted' }, [
    'Lines of the namespaces in which you have the permission ',
    PERMISSION,
    `: ${namespaces.join(', ')}${total > namespaces.length ? ' and others' : ''}.`,
  ]);
}
