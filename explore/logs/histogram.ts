// The number of lines by time and severity, as stacked bars of SVG. A range is selected with the pointer or with the
// arrow keys; a table has the same numbers.
import type { LogHistogram, Severity } from 'ks-apiserver-client';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { clockOf, SEVERITIES, type TimeRange } from './log-query.ts';

export interface HistogramProps {
  readonly histogram: LogHistogram;
  readonly range: TimeRange;
  /** Width of a bucket in seconds. */
  readonly step: number;
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
/** The stack begins with the most severe level, at the bottom, where differences are easy to see. */
const NO_COUNTS: Record<Severity, number> = { fatal: 0, error: 0, warn: 0, info: 0, debug: 0, none: 0 };

export function Histogram({ histogram, range, step, shown, zoom }: HistogramProps): ComponentChildren {
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
  const [first, final] = selected ? [Math.min(...selected), Math.max(...selected)] : [-1, -1];
  const indexAt = ({ clientX, currentTarget }: PointerEvent): number => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    return Math.max(0, Math.min(last, Math.floor(((clientX - left) / width) * buckets.length)));
  };
  const apply = (from: number, to: number): void => {
    const begin = (buckets[Math.min(from, to)]?.time ?? 0) / 1000;
    const end = (buckets[Math.max(from, to)]?.time ?? 0) / 1000 + step - 1;
    // The first and the last bucket can reach beyond the range.
    zoom({ start: Math.max(range.start, begin), end: Math.max(begin, Math.min(range.end, end)) });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = selected?.[1] ?? last;
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: selected ? at - 1 : last,
      ArrowRight: selected ? at + 1 : 0,
      Home: 0,
      End: last,
    };
    const target = moves[event.key];
    if (target !== undefined) {
      const to = Math.max(0, Math.min(last, target));
      setSelected([event.shiftKey && selected ? selected[0] : to, to]);
    } else if (event.key === 'Enter' && selected) apply(...selected);
    else if (event.key === 'Escape' && selected) setSelected(undefined);
    else return;
    event.preventDefault();
  };
  const release = (event: PointerEvent): void => {
    if (dragFrom === undefined) return;
    setDragFrom(undefined);
    const to = indexAt(event);
    if (to === dragFrom) setSelected([to, to]);
    else apply(dragFrom, to);
  };
  const focus = hovered ?? selected?.[1];
  const text = focus === undefined ? '' : textOf(buckets, hovered ?? first, hovered ?? final, step, shown);
  const max = Math.max(1, ...buckets.map(({ sum }) => sum));
  return h('figure', { class: 'histogram', 'aria-label': 'Lines by time' }, [
    h('div', { class: 'histogram-plot' }, [
      h('span', { class: 'histogram-max muted', 'aria-hidden': true }, max.toLocaleString()),
      h(
        'div',
        {
          ...{ class: 'histogram-bars', tabIndex: 0, role: 'group', 'aria-describedby': 'histogram-keys' },
          'aria-label': `Histogram of ${buckets.length} intervals of ${spanName(step)}`,
          onKeyDown,
          onPointerDown: (event: PointerEvent) => {
            if (event.button !== 0) return;
            (event.currentTarget as Element).setPointerCapture(event.pointerId);
            const at = indexAt(event);
            setDragFrom(at);
            setSelected([at, at]);
          },
          onPointerMove: (event: PointerEvent) => {
            const at = indexAt(event);
            setHovered(at);
            if (dragFrom !== undefined) setSelected([dragFrom, at]);
          },
          onPointerUp: release,
          onPointerCancel: () => setDragFrom(undefined),
          onPointerLeave: () => setHovered(undefined),
        },
        h('svg', { ref: svg, viewBox: `0 0 ${width} ${HEIGHT}`, 'aria-hidden': true }, [
          h(Patterns, {}),
          ...bars(buckets, shown, max, width / buckets.length),
          first >= 0 && column('selection', first, final, width / buckets.length),
          hovered !== undefined && column('hover', hovered, hovered, width / buckets.length),
        ]),
      ),
      h('div', { class: 'histogram-axis muted', 'aria-hidden': true }, axis(buckets, step)),
    ]),
    h('p', { id: 'histogram-keys', class: 'hidden-text' }, KEYS),
    h('div', { class: 'histogram-foot' }, [
      h('output', { 'aria-live': 'polite' }, text === '' ? HINT : text),
      h('details', {}, [
        h('summary', {}, 'As a table'),
        h(
          'div',
          { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': 'Lines by time' },
          table(buckets, step),
        ),
      ]),
    ]),
  ]);
}

const HINT = 'Drag to zoom';
const KEYS =
  'Arrow keys select an interval, with Shift several. Enter zooms into the selection, Escape clears it.';

function bucketsOf({ histograms }: LogHistogram, shown: readonly Severity[]): Bucket[] {
  return histograms.map(({ time, count, severities }) => {
    const counts = severities ?? { ...NO_COUNTS, none: count };
    // Without counts by severity, all lines are shown.
    const sum = severities ? shown.reduce((total, each) => total + counts[each], 0) : count;
    return { time, counts, sum };
  });
}

/** One path for each severity: 120 buckets are six nodes. */
function bars(
  buckets: readonly Bucket[],
  shown: readonly Severity[],
  max: number,
  width: number,
): ComponentChildren[] {
  const gap = Math.min(2, width / 4);
  const tops = buckets.map(() => HEIGHT);
  return SEVERITIES.filter((each) => shown.includes(each)).map((severity) => {
    const path = buckets.map(({ counts }, index) => {
      if (counts[severity] === 0) return '';
      // A single line among thousands is still visible.
      const size = Math.max(2, (counts[severity] / max) * HEIGHT);
      const bottom = tops[index] ?? HEIGHT;
      tops[index] = Math.max(0, bottom - size);
      const x = (index * width + gap / 2).toFixed(2);
      return `M${x} ${bottom.toFixed(2)}h${(width - gap).toFixed(2)}V${tops[index].toFixed(2)}h-${(width - gap).toFixed(2)}z`;
    });
    return h('path', { class: `bar severity-${severity}`, d: path.join('') });
  });
}

/** Patterns tell the levels apart without their colours. */
function Patterns(): ComponentChildren {
  const pattern = (id: string, d: string): ComponentChildren =>
    h('pattern', { id: `pattern-${id}`, width: 6, height: 6, patternUnits: 'userSpaceOnUse' }, [
      h('rect', { class: `severity-${id}`, width: 6, height: 6 }),
      h('path', { class: 'pattern-line', d }),
    ]);
  return h('defs', {}, [
    pattern('fatal', 'M0 0L6 6M6 0L0 6'),
    pattern('error', 'M0 6L6 0'),
    pattern('warn', 'M0 3H6'),
  ]);
}

function column(name: string, first: number, last: number, width: number): ComponentChildren {
  return h('rect', {
    class: `histogram-${name}`,
    x: first * width,
    y: 0,
    width: (last - first + 1) * width,
    height: HEIGHT,
  });
}

function axis(buckets: readonly Bucket[], step: number): ComponentChildren {
  const [first, middle, last] = [buckets[0], buckets[buckets.length >> 1], buckets.at(-1)];
  const date = step * buckets.length > 43_200;
  return [first, middle, last].map((bucket) =>
    h('span', {}, bucket ? clockOf(bucket.time, { date }).slice(0, date ? 16 : undefined) : ''),
  );
}

function textOf(
  buckets: readonly Bucket[],
  first: number,
  last: number,
  step: number,
  shown: readonly Severity[],
): string {
  const part = buckets.slice(first, last + 1);
  const end = (buckets[last]?.time ?? 0) + step * 1000;
  const counts = shown
    .map((each) => [each, part.reduce((sum, { counts: of }) => sum + of[each], 0)] as const)
    .filter(([, count]) => count > 0)
    .map(([each, count]) => `${count.toLocaleString()} ${NAMES[each]}`);
  const time = `${clockOf(buckets[first]?.time ?? 0, { date: step >= 3600 })} – ${clockOf(end)}`;
  return `${time}: ${counts.length === 0 ? 'no lines' : counts.join(', ')}`;
}

export const NAMES: Readonly<Record<Severity, string>> = {
  fatal: 'fatal',
  error: 'error',
  warn: 'warn',
  info: 'info',
  debug: 'debug',
  none: 'without level',
};

function table(buckets: readonly Bucket[], step: number): ComponentChildren {
  const cell = (tag: 'th' | 'td', text: string | number) => h(tag, { class: 'number' }, text);
  return h('table', { 'aria-label': 'Lines by time and severity' }, [
    h('thead', {}, h('tr', {}, [h('th', {}, 'Start'), ...SEVERITIES.map((each) => cell('th', NAMES[each]))])),
    h(
      'tbody',
      {},
      buckets
        .filter(({ counts }) => SEVERITIES.some((each) => counts[each] > 0))
        .map(({ time, counts }) =>
          h('tr', { key: time }, [
            h('td', {}, clockOf(time, { date: step >= 3600 })),
            ...SEVERITIES.map((each) => cell('td', counts[each])),
          ]),
        ),
    ),
  ]);
}

function spanName(seconds: number): string {
  const [size, unit] =
    seconds >= 86_400
      ? [86_400, 'd']
      : seconds >= 3600
        ? [3600, 'h']
        : seconds >= 60
          ? [60, 'min']
          : [1, 's'];
  return `${Math.round(seconds / size)} ${unit}`;
}
