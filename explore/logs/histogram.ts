// The number of lines by time and severity, as stacked bars. The pointer or the arrow keys select a range to zoom into.
import {
  clockOf,
  type LogHistogram,
  logFiltersIn,
  SEVERITIES,
  type Severity,
  type SeverityHistogram,
  spanOf,
} from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { absolute } from '../route.ts';

export type Buckets = LogHistogram['histograms'];

/** The number of lines with one of the severities. If the severities are unknown, all lines are without one. */
export function sumOf(buckets: Buckets, shown: readonly Severity[]): number {
  const counts = buckets.flatMap(({ count, severities }) => {
    const bySeverity: Partial<Record<Severity, number>> = severities ?? { none: count };
    return shown.map((each) => bySeverity[each] ?? 0);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

const KEYS =
  'Arrow keys select an interval, with Shift several. Enter zooms into the selection, Escape clears it.';

export function Histogram(counted: SeverityHistogram): ComponentChildren {
  const { histograms: buckets, step, start_time, end_time } = counted;
  const { route, change } = useExplore();
  const { level: levels = SEVERITIES } = logFiltersIn(route.query);
  const shown = SEVERITIES.filter((each) => levels.includes(each));
  const sums = buckets.map((bucket) => sumOf([bucket], shown));
  const max = Math.max(1, ...sums);
  const peak = buckets[sums.indexOf(max)];
  const peakText = peak ? `Peak: ${max.toLocaleString()} at ${timeOf(peak.time / 1000)}` : 'No lines';
  const last = buckets.length - 1;
  /** First and last bucket of the selection; the second one moves. */
  const [selection, setSelection] = useState<readonly [from: number, to: number]>();
  useEffect(() => setSelection(undefined), [buckets]);
  const selected = selection ? buckets.slice(Math.min(...selection), Math.max(...selection) + 1) : [];
  const begin = (selected[0]?.time ?? 0) / 1000;
  const end = (selected.at(-1)?.time ?? 0) / 1000 + step;
  const moveTo = (index: number, isExtended: boolean): void => {
    const to = Math.max(0, Math.min(last, index));
    setSelection([isExtended && selection ? selection[0] : to, to]);
  };
  // The first and the last bucket can reach beyond the range.
  const apply = (): void => {
    const zoomed = { start_time: Math.max(start_time, begin), end_time: Math.min(end_time, end - 1) };
    change(absolute(zoomed));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const [, to] = selection ?? [];
    const [left, right] = to === undefined ? [last, 0] : [to - 1, to + 1];
    const target = { ArrowLeft: left, ArrowRight: right, Home: 0, End: last }[event.key];
    if (target !== undefined) moveTo(target, event.shiftKey);
    else if (event.key === 'Enter' && selection) apply();
    else if (event.key === 'Escape') setSelection(undefined);
    else return;
    event.preventDefault();
  };
  const onPointer = ({ type, button, clientX, pointerId, currentTarget }: PointerEvent): void => {
    const box = currentTarget as HTMLElement;
    const { left, width } = box.getBoundingClientRect();
    moveTo(Math.floor(((clientX - left) / width) * buckets.length), box.hasPointerCapture(pointerId));
    if (type === 'pointerdown' && button === 0) box.setPointerCapture(pointerId);
    if (type === 'pointerup' && selected.length > 1) apply();
  };
  const bars = buckets.map((bucket) => {
    const parts = shown.map((each) => {
      const height = `${(sumOf([bucket], [each]) / max) * 100}%`;
      return height !== '0%' && h('div', { 'data-severity': each, style: { height } });
    });
    return h('div', { 'data-selected': selected.includes(bucket) }, parts);
  });
  const counts = shown
    .map((each) => [sumOf(selected, [each]), each === 'none' ? 'without level' : each] as const)
    .filter(([count]) => count > 0)
    .map(([count, name]) => `${count.toLocaleString()} ${name}`);
  const text = `${timeOf(begin)} – ${timeOf(end)}: ${counts.join(', ') || 'no lines'}`;
  const attributes = {
    class: 'histogram-bars',
    tabIndex: 0,
    role: 'group',
    'aria-label': `Histogram of ${buckets.length} intervals of ${spanOf(step * 1000)}`,
    'aria-description': KEYS,
    onKeyDown,
    onPointerDown: onPointer,
    onPointerMove: onPointer,
    onPointerUp: onPointer,
    onPointerLeave: () => setSelection(undefined),
  } as const;
  return h('figure', { class: 'histogram small', 'aria-label': 'Lines by time' }, [
    h('p', { class: 'muted' }, peakText),
    h('div', attributes, bars),
    h('div', { class: 'row muted', 'aria-hidden': true }, [
      h('span', { class: 'fill' }, timeOf(start_time)),
      timeOf(end_time),
    ]),
    h('output', { 'aria-live': 'polite' }, selection ? text : 'Drag to zoom'),
  ]);
}

/** Without milliseconds. */
function timeOf(seconds: number): string {
  return clockOf(seconds * 1000).slice(0, -4);
}
