// A chart of horizontal bars on one axis, with a mark for the goal of each. Everything is also said in words beside the
// bars, and a bar on the wrong side of the base is hatched, so that no reader depends on colours.
import {
  element,
  FONT_SIZE,
  LINE,
  MARGIN,
  type Markup,
  type Picture,
  picture,
  text,
  WIDTH,
  wrapped,
} from './svg.ts';

export interface Bar {
  /** Whole name; a reader of the file sees it as a tooltip. */
  readonly name: string;
  readonly label: string;
  readonly value: number;
  /** Figure at the end of the bar. */
  readonly figure: string;
  /** Value of the goal. */
  readonly goal: number;
  /** Hatched instead of solid. */
  readonly bad: boolean;
  /** Texts of the columns on the right. */
  readonly cells: readonly string[];
}

export interface Section {
  readonly heading: string;
  readonly bars: readonly Bar[];
}

export interface Axis {
  /** Position of a value, in units of one length. */
  position(value: number): number;
  /** Value where the bars begin. */
  readonly base: number;
  /** The most important ones first: others are left out if they are close to them. */
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
  /** Texts on the left and the right of the base. */
  readonly sides?: readonly [left: string, right: string];
}

interface BarChart extends Picture {
  /** Headings of the columns on the right. */
  readonly columns: readonly string[];
  readonly axis: Axis;
  readonly sections: readonly Section[];
}

const LABEL_WIDTH = 244;
const COLUMN_WIDTH = 78;
const BAR = 12;
const GAP = 6;
/** Space for the label of a tick. */
const TICK_WIDTH = 33;
/** Space for the figure of a bar that reaches an end of the axis. */
const FIGURE_WIDTH = 58;

export function barChart(chart: BarChart): string {
  return picture(chart, (top) => content(chart, top));
}

function content(chart: BarChart, above: number): { content: Markup[]; bottom: number } {
  const { columns, axis, sections } = chart;
  const top = above + 8 + (axis.sides ? LINE : 0);
  const x = scaleOf(chart);
  const rows: Markup[] = [];
  let y = top + LINE;
  for (const { heading, bars } of sections) {
    y += GAP + LINE;
    rows.push(text(MARGIN, y, 'heading', heading));
    y += GAP;
    for (const bar of bars) {
      const lines = wrapped(bar.label, LABEL_WIDTH);
      rows.push(rowOf(bar, lines, y, x, x(axis.base)));
      y += lines.length * LINE + GAP;
    }
  }
  const bottom = y + GAP;
  const content = [
    ...spaced(axis, x).flatMap(({ value, label }) => [
      element('path', {
        class: value === axis.base ? 'axis' : 'grid',
        d: `M${x(value).toFixed(1)} ${top + LINE}V${bottom}`,
      }),
      text(x(value), top + LINE - 4, 'small soft middle', label),
    ]),
    ...(axis.sides ?? []).map((side, i) =>
      text(x(axis.base) + (i === 0 ? -GAP : GAP), top - 2, i === 0 ? 'small end' : 'small', side),
    ),
    ...columns.map((name, i) => text(columnEnd(columns, i), top + LINE - 4, 'small soft end', name)),
    ...rows,
  ];
  return { content, bottom };
}

/** Ticks whose labels do not overlap. */
function spaced({ ticks }: Axis, x: (value: number) => number): Axis['ticks'] {
  const kept: Axis['ticks'][number][] = [];
  for (const tick of ticks)
    if (kept.every(({ value }) => Math.abs(x(value) - x(tick.value)) >= TICK_WIDTH)) kept.push(tick);
  return kept;
}

function columnEnd(columns: readonly unknown[], index: number): number {
  return WIDTH - MARGIN - (columns.length - 1 - index) * COLUMN_WIDTH;
}

function scaleOf({ axis, columns, sections }: BarChart): (value: number) => number {
  const values = sections.flatMap(({ bars }) => bars.flatMap(({ value, goal }) => [value, goal]));
  const positions = [...values, ...axis.ticks.map(({ value }) => value)].map((value) => axis.position(value));
  const low = Math.min(...positions);
  const high = Math.max(...positions);
  const hasLeft = values.some((value) => value < axis.base);
  const from = MARGIN + LABEL_WIDTH + GAP + (hasLeft ? FIGURE_WIDTH : GAP);
  const to = columnEnd(columns, -1) - FIGURE_WIDTH;
  return (value) => from + ((axis.position(value) - low) / (high - low)) * (to - from);
}

function rowOf(
  { name, value, figure, goal, bad, cells }: Bar,
  lines: readonly string[],
  y: number,
  x: (value: number) => number,
  base: number,
): Markup {
  const middle = y + (lines.length * LINE) / 2 + 1;
  const baseline = middle + FONT_SIZE / 2 - 2;
  const [end, mark] = [x(value), x(goal)];
  const left = end < base;
  // Beyond the mark, if the mark is on the same side.
  const edge = left ? Math.min(end, mark) - GAP : Math.max(end, mark) + GAP;
  const line = `M${mark.toFixed(1)} ${middle - BAR / 2 - 2}v${BAR + 4}`;
  return element(
    'g',
    {},
    element('title', {}, [name, figure, ...cells].join(', ')),
    ...lines.map((line, i) => text(MARGIN, y + (i + 1) * LINE - 3, '', line)),
    element('rect', {
      class: bad ? 'bad' : 'good',
      x: Math.min(base, end),
      y: middle - BAR / 2,
      width: Math.max(1, Math.abs(end - base)),
      height: BAR,
    }),
    element('path', { class: 'halo', d: line }),
    element('path', { class: 'mark', d: line }),
    text(edge, baseline, left ? 'figure end' : 'figure', figure),
    ...cells.map((cell, i) => text(columnEnd(cells, i), baseline, 'end', cell)),
  );
}
