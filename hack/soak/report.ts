// Report of the soak test: a verdict on each series with its figures, and the errors, as Markdown or JSON.
import { type Point, quantile } from '../bench/measuring/statistics.ts';
import { type Judgement, judge, type Limit, warmUpSeconds } from './judgement.ts';
import type { KnownError } from './load.ts';
import { type Sample, SERIES, type Series } from './samples.ts';

/** State every ten seconds. Latencies: in ms, by kind of request, of the time since the previous one. */
export interface Window {
  /** Seconds since the start of the load. */
  readonly at: number;
  readonly samples: ReadonlyMap<string, Sample>;
  readonly latencies: ReadonlyMap<string, readonly number[]>;
}

export interface Run {
  readonly date: string;
  readonly seconds: number;
  readonly windows: readonly Window[];
  readonly errors: readonly KnownError[];
  /** CPU time by process, in cores. */
  readonly cores: ReadonlyMap<string, number>;
}

/** A series of samples, or of the median latency of each window. */
interface Row extends Judgement {
  readonly series: string;
  /** Number of requests and quantiles of their latency. */
  readonly requests?: { readonly count: number; readonly p50: number; readonly p99: number };
}

export interface Report extends Run {
  readonly warmUp: number;
  readonly rows: readonly Row[];
  readonly passed: boolean;
}

const LATENCY: Limit = { share: 1, least: 10 };

/** `controls`: kinds of requests that do not involve the server. Their latency grows when the machine becomes busier. */
export function reportOf(run: Run, controls: readonly string[]): Report {
  const { windows, errors } = run;
  const warmUp = warmUpSeconds(run.seconds);
  const series = seriesOf(windows);
  const points = (name: string): Point[] => (series.get(name) ?? []).filter(({ at }) => at >= warmUp);
  const judged = controls.map((kind) => judge(points(latencyOf(kind)), LATENCY));
  const busier = Math.max(1, ...judged.map(({ first, last }) => last / first || 1));
  const limit = { share: (1 + LATENCY.share) * busier - 1, least: LATENCY.least * busier };
  const resources = namesIn(windows.map(({ samples }) => samples)).flatMap((replica) =>
    NAMES.map((name) => {
      const of = sampleSeries(replica, name);
      return { series: of, ...judge(points(of), SERIES[name]) };
    }),
  );
  const kinds = namesIn(windows.map(({ latencies }) => latencies)).map((kind) => {
    const all = windows.flatMap(({ latencies }) => latencies.get(kind) ?? []);
    const requests = { count: all.length, p50: quantile(all, 0.5), p99: quantile(all, 0.99) };
    const of = latencyOf(kind);
    return { series: of, ...judge(points(of), limit), requests };
  });
  const rows = [...resources, ...kinds];
  const passed = errors.length === 0 && rows.every(({ verdict }) => verdict !== 'GROWING');
  return { ...run, warmUp, rows, passed };
}

const NAMES = Object.keys(SERIES) as Series[];

function sampleSeries(replica: string, name: Series): string {
  return `${replica}: ${name}`;
}

function latencyOf(kind: string): string {
  return `${kind}, ms`;
}

/** All points by series, with those of the warm-up. */
export function seriesOf(windows: readonly Window[]): ReadonlyMap<string, readonly Point[]> {
  const series = new Map<string, Point[]>();
  const add = (name: string, at: number, value: number): void => {
    if (!Number.isNaN(value)) series.set(name, [...(series.get(name) ?? []), { at, value }]);
  };
  for (const { at, samples, latencies } of windows) {
    for (const [replica, sample] of samples)
      for (const name of NAMES) add(sampleSeries(replica, name), at, sample[name]);
    for (const [kind, values] of latencies) add(latencyOf(kind), at, quantile(values, 0.5));
  }
  return series;
}

function namesIn(maps: readonly ReadonlyMap<string, unknown>[]): string[] {
  return [...new Set(maps.flatMap((map) => [...map.keys()]))].toSorted();
}

/** `picture`: file name of the chart. */
export function markdown(report: Report, picture?: string): string {
  const { date, seconds, warmUp, rows, errors, cores, passed } = report;
  const growing = rows.filter(({ verdict }) => verdict === 'GROWING').length;
  const series = rows.map(({ series, verdict, first, last, perHour, limit, requests }) => {
    const latency = requests ? [requests.count, figure(requests.p50), figure(requests.p99)] : ['', '', ''];
    return [series, verdict, ...[first, last, perHour, limit].map(figure), ...latency];
  });
  const failures = errors.map(({ task, count, firstAt, message }) => [
    task,
    count,
    figure(firstAt),
    message.replaceAll(/[|\n]/g, ' '),
  ]);
  return `# Soak report

${passed ? 'PASSED' : 'FAILED'}: ${growing} of ${rows.length} series grow; ${errors.length} kinds of unexpected errors. The load started at ${date} and lasted ${seconds.toFixed(0)} s, of which ${warmUp.toFixed(0)} s are the warm-up.

CPU, in cores: ${[...cores].map(([name, used]) => `${name} ${used.toFixed(2)}`).join(', ')}.

${picture === undefined ? '' : `![Each series over time](${picture})\n\n`}${table('series|verdict|first quarter|last quarter|slope per hour|limit|requests|p50|p99', series)}

${errors.length === 0 ? 'No unexpected errors.' : table('errors|count|first at, s|first message', failures)}
`;
}

function figure(value: number): string {
  return Number.isNaN(value) ? '' : value.toFixed(Math.abs(value) < 100 ? 1 : 0);
}

function table(headings: string, rows: readonly (readonly (number | string)[])[]): string {
  const rule = headings.replaceAll(/[^|]+/g, '---');
  return [headings, rule, ...rows.map((cells) => cells.join('|'))].map((line) => `|${line}|`).join('\n');
}

/** JSON with all samples; maps are objects. */
export function json(report: Report): string {
  return JSON.stringify(report, (_key, value: unknown) =>
    value instanceof Map ? Object.fromEntries(value) : value,
  );
}
