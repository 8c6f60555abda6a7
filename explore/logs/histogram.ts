// The number of lines by time and severity, as stacked bars. The pointer or the arrow keys select a range to zoom into.
import type { Severity } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { spanOf } from '../ui/relative-time.ts';
import { clockOf, type TimeRange } from './log-query.ts';
import type { Counts } from './use-histogram.ts';

export interface HistogramProps extends Counts {
  readonly shown: readonly Severity[];
  readonly zoom: (range: TimeRange) => void;
}

interface Bucket {
  /** Seconds since the epoch. */
  readonly start: number;
  readonly counts: Readonly<Partial<Record<Severity, number>>>;
}

const KEYS =
  'Arrow keys select an interval, with Shift several. Enter zooms into the selection, Escape clears it.';

export function Histogram({ histogram, range, step, shown, zoom }: HistogramProps): ComponentChildren {
  const buckets = histogram.histograms.map(
    ({ time, count, severities }): Bucket => ({ start: time / 1000, counts: severities ?? { none: count } }),
  );
  const totalOf = (bucket: Bucket): number =>
    shown.reduce((sum, each) => sum + (bucket.counts[each] ?? 0), 0);
  const max = Math.max(1, ...buckets.map(totalOf));
  const last = buckets.length - 1;
  /** First and last bucket of the selection; the second one moves. */
  const [selection, setSelection] = useState<readonly [from: number, to: number]>();
  useEffect(() => setSelection(undefined), [histogram]);
  const selected = selection ? buckets.slice(Math.min(...selection), Math.max(...selection) + 1) : [];
  const moveTo = (index: number, isExtended: boolean): void => {
    const to = Math.max(0, Math.min(last, index));
    setSelection([isExtended && selection ? selection[0] : to, to]);
  };
  const apply = (): void => {
    const start = selected[0]?.start ?? 0;
    const end = (selected.at(-1)?.start ?? 0) + step - 1;
    // The first and the last bucket can reach beyond the range.
    zoom({ start: Math.max(range.start, start), end: Math.max(start, Math.min(range.end, end)) });
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
  const pointer = {
    onPointerDown: onPointer,
    onPointerMove: onPointer,
    onPointerUp: onPointer,
    onPointerLeave: () => setSelection(undefined),
  };
  const label = `Histogram of ${buckets.length} intervals of ${spanOf(step * 1000)}`;
  const description = { role: 'group', 'aria-label': label, 'aria-description': KEYS } as const;
  const bars = buckets.map((bucket) => {
    const parts = shown.map((each) => {
      const height = `${((bucket.counts[each] ?? 0) / max) * 100}%`;
      return height !== '0%' && h('div', { 'data-severity': each, style: { height } });
    });
    return h('div', { 'data-selected': selected.includes(bucket) }, parts);
  });
  return h('figure', { class: 'histogram', 'aria-label': 'Lines by time' }, [
    h('span', { class: 'muted', 'aria-hidden': true }, max.toLocaleString()),
    h('div', { class: 'histogram-bars', tabIndex: 0, ...description, onKeyDown, ...pointer }, bars),
    h('div', { class: 'row muted', 'aria-hidden': true }, [
      h('span', { class: 'fill' }, timeOf(range.start)),
      timeOf(range.end),
    ]),
    h('output', { 'aria-live': 'polite' }, selection ? textOf(selected, step, shown) : 'Drag to zoom'),
  ]);
}

function countOf(buckets: readonly Bucket[], severity: Severity): number {
  return buckets.reduce((sum, { counts }) => sum + (counts[severity] ?? 0), 0);
}

function textOf(buckets: readonly Bucket[], step: number, shown: readonly Severity[]): string {
  const counts = shown
    .filter((each) => countOf(buckets, each) > 0)
    .map((each) => `${countOf(buckets, each).toLocaleString()} ${each === 'none' ? 'without level' : each}`);
  const [begin, end] = [buckets[0]?.start ?? 0, (buckets.at(-1)?.start ?? 0) + step];
  return `${timeOf(begin)} – ${timeOf(end)}: ${counts.join(', ') || 'no lines'}`;
}

/** Without milliseconds. */
function timeOf(seconds: number): string {
  return clockOf(seconds * 1000).slice(0, -4);
}
