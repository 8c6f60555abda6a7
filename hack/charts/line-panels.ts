// A picture of many small charts over the same time, each with its own scale from zero. Lines differ by dashes, and the
// range that is not judged is shaded.
import type { Point } from '../bench/measuring/statistics.ts';
import { element, LINE, MARGIN, type Markup, type Picture, picture, text, WIDTH, wrapped } from './svg.ts';

export interface Panel {
  readonly title: string;
  /** At most two lines of text below the title. */
  readonly summary: readonly string[];
  /** At most two lines. */
  readonly lines: readonly (readonly Point[])[];
  /** Height of the dotted line. */
  readonly limit: number;
}

interface LinePanels extends Picture {
  /** Names of the first and the second line. */
  readonly names: readonly string[];
  /** End of the shaded range, and of the time. */
  readonly shaded: number;
  readonly until: number;
  readonly untilLabel: string;
  readonly panels: readonly Panel[];
}

const COLUMNS = 3;
const GUTTER = 20;
const PANEL_WIDTH = (WIDTH - 2 * MARGIN - (COLUMNS - 1) * GUTTER) / COLUMNS;
const PLOT_HEIGHT = 64;
const SMALL_LINE = 14;
const HEADING_LINES = 2;
/** Title, summary, labels of the time, and a gap. */
const PLOT_TOP = HEADING_LINES * LINE + 2 * SMALL_LINE + 8;
const PANEL_HEIGHT = PLOT_TOP + PLOT_HEIGHT + 2 * LINE;
/** Space for the labels of the scale. */
const SCALE_WIDTH = 38;
/** A bold text is wider. */
const BOLD = 0.9;
/** Space above the highest value. */
const HEADROOM = 1.08;

export function linePanels(chart: LinePanels): string {
  const { names, panels } = chart;
  return picture(chart, (above) => {
    const keys = above + LINE;
    const top = keys + LINE;
    const content = [
      ...names.flatMap((name, i) => key(MARGIN + i * 220, keys, i, name)),
      ...panels.map((panel, i) =>
        panelAt(
          MARGIN + (i % COLUMNS) * (PANEL_WIDTH + GUTTER),
          top + Math.floor(i / COLUMNS) * PANEL_HEIGHT,
          panel,
          chart,
        ),
      ),
    ];
    return { content, bottom: top + Math.ceil(panels.length / COLUMNS) * PANEL_HEIGHT };
  });
}

const STYLES = ['line', 'other'] as const;

function key(x: number, y: number, index: number, name: string): Markup[] {
  return [
    element('path', { class: STYLES[index] ?? 'line', d: `M${x} ${y - 4}h28` }),
    text(x + 34, y, '', name),
  ];
}

function panelAt(
  left: number,
  top: number,
  { title, summary, lines, limit }: Panel,
  { shaded, until, untilLabel }: LinePanels,
): Markup {
  const values = lines.flatMap((points) => points.map(({ value }) => value));
  const highest = Math.max(limit, ...values) * HEADROOM || 1;
  const [from, to] = [left + SCALE_WIDTH, left + PANEL_WIDTH];
  const base = top + PLOT_TOP + PLOT_HEIGHT;
  const x = (at: number): number => from + (at / until) * (to - from);
  const y = (value: number): number => base - (value / highest) * PLOT_HEIGHT;
  const path = (points: readonly Point[]): string =>
    points
      .map(({ at, value }, i) => `${i === 0 ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`)
      .join('');
  // The tooltip has the whole title.
  const heading = wrapped(title, BOLD * PANEL_WIDTH).slice(0, HEADING_LINES);
  return element(
    'g',
    {},
    element('title', {}, `${title}: ${summary.join('; ')}`),
    ...heading.map((line, i) => text(left, top + (i + 1) * LINE, 'heading', line)),
    ...summary.map((line, i) =>
      text(left, top + heading.length * LINE + (i + 1) * SMALL_LINE, 'small', line),
    ),
    element('rect', {
      class: 'shade',
      x: from,
      y: base - PLOT_HEIGHT,
      width: x(shaded) - from,
      height: PLOT_HEIGHT,
    }),
    element('path', { class: 'axis', d: `M${from} ${base}H${to}` }),
    element('path', {
      class: 'axis',
      'stroke-dasharray': '1 3',
      d: `M${from} ${y(limit).toFixed(1)}H${to}`,
    }),
    ...lines.map((points, i) =>
      element('path', { class: STYLES[i] ?? 'line', d: path(points), 'stroke-linejoin': 'round' }),
    ),
    text(from - 4, base, 'small soft end', '0'),
    ...(base - y(limit) < SMALL_LINE ? [] : [text(from - 4, y(limit) + 4, 'small soft end', short(limit))]),
    text(to, base + 13, 'small soft end', untilLabel),
  );
}

function short(value: number): string {
  if (value >= 10_000) return `${(value / 1000).toFixed(0)}k`;
  return value.toFixed(value < 10 ? 1 : 0);
}
