// Draws the report of the soak test: each series over the time of the run, with the highest value at which it is flat.
import { linePanels, type Panel } from '../charts/line-panels.ts';
import { type Report, seriesOf } from './report.ts';

/** Series that both replicas have share a panel. */
export function chart(report: Report): string {
  const { windows, rows, seconds, warmUp, passed } = report;
  const replicas = [...new Set(windows.flatMap(({ samples }) => [...samples.keys()]))].toSorted();
  const points = seriesOf(windows);
  const panels = new Map<string, Report['rows'][number][]>();
  for (const row of rows) {
    const replica = replicas.find((name) => row.series.startsWith(`${name}: `));
    const title = replica === undefined ? row.series : row.series.slice(replica.length + 2);
    panels.set(title, [...(panels.get(title) ?? []), row]);
  }
  const growing = rows.filter(({ verdict }) => verdict === 'GROWING').map(({ series }) => series);
  const minutes = `${Math.round(seconds / 60)} min`;
  return linePanels({
    title: `Soak test of ${minutes}: ${passed ? 'passed' : 'failed'}`,
    description: `${rows.length} series. ${growing.length === 0 ? 'None grows' : `Growing: ${growing.join(', ')}`}.`,
    legend:
      'The warm-up is shaded. A series grows if it passes the dotted line: the median of its first quarter, plus its limit. Medians of latencies are of ten seconds each, values of the heap the least of three minutes each.',
    names: replicas.map((name) => `replica with ${name}`),
    shaded: warmUp,
    until: seconds,
    untilLabel: minutes,
    panels: [...panels].map(
      ([title, of]): Panel => ({
        title,
        summary: of.map(({ series, verdict, first, last }) => {
          const name = series === title ? '' : series.slice(0, -title.length);
          return `${name}${verdictOf(verdict)}, ${figure(first)} → ${figure(last)}`;
        }),
        lines: of.map(({ series }) => points.get(series) ?? []),
        limit: Math.max(0, ...of.map(({ first, limit }) => first + limit).filter(Number.isFinite)),
      }),
    ),
  });
}

function verdictOf(verdict: string): string {
  return verdict === 'GROWING' ? '✗ GROWING' : verdict.toLowerCase();
}

function figure(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(Math.abs(value) < 100 ? 1 : 0);
}
