// The number of lines by time and severity, as stacked bars of SVG. A range is selected with the pointer or with the
// arrow keys; a table has the same numbers.
import type { LogHistogram, Severity } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { spanOf } from '../ui/relative-time.ts';
import { clockOf, intervalOf, levelName, SEVERITIES, type TimeRange } from './log-query.ts';

export interface HistogramProps {
  readonly histogram: LogHistogram;
  readonly range: TimeRange;
  readonly shown: readonly Severity[];
  readonly zoom: (range: TimeRange) => void;
}

interface Bucket {
  /** Milliseconds. */
  readonly time: number;
  readonly counts: Readonly<Record<Severity, number>>;
  /** Of the shown severities. */
  readonly sum: number;
}

const HEIGHT = 96;
const NO_COUNTS: Record<Severity, number> = { fatal: 0, error: 0, warn: 0, info: 0, debug: 0, none: 0 };
/** Lines in the bars of a level, which tell it apart without its colour. */
const PATTERNS = Object.entries({ fatal: 'M0 0L6 6M6 0L0 6', error: 'M0 6L6 0', warn: 'M0 3H6' });
const KEYS =
  'Arrow keys select an interval, with Shift several. Enter zooms into the selection, Escape clears it.';

export function Histogram({ histogram, range, shown, zoom }: HistogramProps): ComponentChildren {
  const step = intervalOf(range).seconds;
  const buckets = bucketsOf(histogram, shown);
  /** First and last bucket of the selection; the second one moves. */
  const [selected, setSelected] = useState<readonly [from: number, to: number]>();
  const [dragFrom, setDragFrom] = useState<number>();
  const [hovered, setHovered] = useState<number>();
  useEffect(() => setSelected(undefined), [histogram]);
  const svg = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(1000);
  useEffect(() => {
    const resized = new ResizeObserver(([entry]) => setWidth(Math.max(1, entry?.contentRect.width ?? 1)));
    if (svg.current) resized.observe(svg.current);
    return () => resized.disconnect();
  }, []);
  const last = buckets.length - 1;
  const within = (index: number): number => Math.max(0, Math.min(last, index));
  const indexAt = ({ clientX, currentTarget }: PointerEvent): number => {
    const { left, width: shownWidth } = (currentTarget as Element).getBoundingClientRect();
    return within(Math.floor(((clientX - left) / shownWidth) * buckets.length));
  };
  const apply = (from: number, to: number): void => {
    const begin = (buckets[Math.min(from, to)]?.time ?? 0) / 1000;
    const end = (buckets[Math.max(from, to)]?.time ?? 0) / 1000 + step - 1;
    // The first and the last bucket can reach beyond the range.
    zoom({ start: Math.max(range.start, begin), end: Math.max(begin, Math.min(range.end, end)) });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const [from, at] = selected ?? [];
    const moves = new Map([
      ['ArrowLeft', at === undefined ? last : at - 1],
      ['ArrowRight', at === undefined ? 0 : at + 1],
      ['Home', 0],
      ['End', last],
    ]);
    const target = moves.get(event.key);
    if (target !== undefined) {
      const to = within(target);
      setSelected([event.shiftKey && from !== undefined ? from : to, to]);
    } else if (event.key === 'Enter' && selected) apply(...selected);
    else if (event.key === 'Escape' && selected) setSelected(undefined);
    else return;
    event.preventDefault();
  };
  const onPointerDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    const at = indexAt(event);
    setDragFrom(at);
    setSelected([at, at]);
  };
  const onPointerMove = (event: PointerEvent): void => {
    const at = indexAt(event);
    setHovered(at);
    if (dragFrom !== undefined) setSelected([dragFrom, at]);
  };
  const onPointerUp = (event: PointerEvent): void => {
    const to = indexAt(event);
    if (dragFrom !== undefined && to !== dragFrom) apply(dragFrom, to);
    setDragFrom(undefined);
  };
  const picked = selected && ([Math.min(...selected), Math.max(...selected)] as const);
  const described = hovered === undefined ? picked : ([hovered, hovered] as const);
  const max = Math.max(1, ...buckets.map(({ sum }) => sum));
  const barWidth = width / buckets.length;
  const column = (name: string, first: number, end: number): ComponentChildren => {
    const place = { x: first * barWidth, width: (end - first + 1) * barWidth, height: HEIGHT };
    return h('rect', { class: `histogram-${name}`, ...place });
  };
  return h('figure', { class: 'histogram', 'aria-label': 'Lines by time' }, [
    h('span', { class: 'histogram-max muted', 'aria-hidden': true }, max.toLocaleString()),
    h(
      'div',
      {
        ...{ class: 'histogram-bars', tabIndex: 0, role: 'group', 'aria-describedby': 'histogram-keys' },
        'aria-label': `Histogram of ${buckets.length} intervals of ${spanOf(step * 1000)}`,
        ...{ onKeyDown, onPointerDown, onPointerMove, onPointerUp },
        onPointerCancel: () => setDragFrom(undefined),
        onPointerLeave: () => setHovered(undefined),
      },
      h('svg', { ref: svg, viewBox: `0 0 ${width} ${HEIGHT}`, 'aria-hidden': true }, [
        PATTERNS.map(([id, d]) =>
          h('pattern', { id: `pattern-${id}`, width: 6, height: 6, patternUnits: 'userSpaceOnUse' }, [
            h('rect', { 'data-severity': id, width: 6, height: 6 }),
            h('path', { class: 'pattern-line', d }),
          ]),
        ),
        bars(buckets, shown, max, barWidth),
        picked && column('selection', ...picked),
        hovered !== undefined && column('hover', hovered, hovered),
      ]),
    ),
    h('div', { class: 'histogram-foot muted', 'aria-hidden': true }, axis(buckets, step)),
    h('p', { id: 'histogram-keys', class: 'hidden-text' }, KEYS),
    h('div', { class: 'histogram-foot' }, [
      h(
        'output',
        { 'aria-live': 'polite' },
        described ? textOf(buckets.slice(described[0], described[1] + 1), step, shown) : 'Drag to zoom',
      ),
      h('details', {}, [
        h('summary', { class: 'muted' }, 'As a table'),
        h(
          'div',
          { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Lines by time' },
          table(buckets, step),
        ),
      ]),
    ]),
  ]);
}

function bucketsOf({ histograms }: LogHistogram, shown: readonly Severity[]): Bucket[] {
  return histograms.map(({ time, count, severities }) => {
    const counts = severities ?? { ...NO_COUNTS, none: count };
    // Without counts by severity, all lines are shown.
    const sum = severities ? shown.reduce((total, each) => total + counts[each], 0) : count;
    return { time, counts, sum };
  });
}

/** One path for each severity: 120 buckets are six nodes. The most severe level is at the bottom. */
function bars(
  buckets: readonly Bucket[],
  shown: readonly Severity[],
  max: number,
  width: number,
): ComponentChildren[] {
  const gap = Math.min(2, width / 4);
  const across = (width - gap).toFixed(2);
  const tops = buckets.map(() => HEIGHT);
  return shown.map((severity) => {
    const path = buckets.map(({ counts }, index) => {
      if (counts[severity] === 0) return '';
      // A single line among thousands is still visible.
      const size = Math.max(2, (counts[severity] / max) * HEIGHT);
      const bottom = tops[index] ?? HEIGHT;
      const top = Math.max(0, bottom - size);
      tops[index] = top;
      const x = (index * width + gap / 2).toFixed(2);
      return `M${x} ${bottom.toFixed(2)}h${across}V${top.toFixed(2)}h-${across}z`;
    });
    return h('path', { class: 'bar', 'data-severity': severity, d: path.join('') });
  });
}

function axis(buckets: readonly Bucket[], step: number): ComponentChildren {
  const date = step * buckets.length > 43_200;
  return [buckets[0], buckets[buckets.length >> 1], buckets.at(-1)].map((bucket) =>
    h('span', {}, bucket && clockOf(bucket.time, { date }).slice(0, date ? 16 : undefined)),
  );
}

function textOf(buckets: readonly Bucket[], step: number, shown: readonly Severity[]): string {
  const counts = shown
    .map((each) => [each, buckets.reduce((sum, bucket) => sum + bucket.counts[each], 0)] as const)
    .filter(([, count]) => count > 0)
    .map(([each, count]) => `${count.toLocaleString()} ${levelName(each)}`);
  const begin = clockOf(buckets[0]?.time ?? 0, { date: step >= 3600 });
  const end = clockOf((buckets.at(-1)?.time ?? 0) + step * 1000);
  return `${begin} – ${end}: ${counts.join(', ') || 'no lines'}`;
}

function table(buckets: readonly Bucket[], step: number): ComponentChildren {
  const cell = (tag: 'th' | 'td', text: string | number) => h(tag, { class: 'number' }, text);
  const row = ({ time, counts }: Bucket): ComponentChildren =>
    h('tr', { key: time }, [
      h('td', {}, clockOf(time, { date: step >= 3600 })),
      SEVERITIES.map((each) => cell('td', counts[each])),
    ]);
  return h('table', { 'aria-label': 'Lines by time and severity' }, [
    h(
      'thead',
      {},
      h('tr', {}, [h('th', {}, 'Start'), SEVERITIES.map((each) => cell('th', levelName(each)))]),
    ),
    h('tbody', {}, buckets.filter(({ counts }) => SEVERITIES.some((each) => counts[each] > 0)).map(row)),
  ]);
}
