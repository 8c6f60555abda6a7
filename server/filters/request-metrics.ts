// Metrics of requests under the names that Kubernetes uses, so that its dashboards and alerts fit. Recording happens
// for every request, so it adds to plain numbers; the library sees them when somebody scrapes.
import { Counter, Gauge, type Registry } from 'prom-client';
import { DurationHistogram } from '../observability/duration-histogram.ts';

/** What distinguishes requests in metrics. Bounded in number: never a name or a path that a caller invents. */
export interface RequestLabels {
  /** `GET`, `LIST`, `WATCH`, `POST`, …, `CONNECT`; `OTHER` for a method that Kubernetes does not know. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** `cluster`, `namespace`, `resource`, or empty for paths that are no resources. */
  readonly scope: string;
}

export type RequestKind = 'readOnly' | 'mutating';

const LABELS = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;

/** Stands in the label `component`; dashboards for Kubernetes select by it. */
const COMPONENT = 'apiserver';

/** More series than any honest use makes; what comes beyond is counted under one. */
const MAX_SERIES = 500;

const OVERFLOW: RequestLabels = {
  verb: 'OTHER',
  group: '',
  version: '',
  resource: '',
  subresource: '',
  scope: '',
};

interface Series {
  readonly labels: RequestLabels;
  readonly durations: number;
  readonly codes: Map<number, number>;
  longRunning: number;
}

/** What the chain reports to. */
export type RequestObserver = Pick<RequestMetrics, keyof RequestMetrics>;

export class RequestMetrics {
  readonly #durations: DurationHistogram<RequestLabels>;
  readonly #series = new Map<string, Series>();
  readonly #inFlight: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };
  readonly #terminations: Counter<'verb' | 'code'>;

  constructor(registry: Registry) {
    const series = this.#series;
    const inFlight = this.#inFlight;
    this.#durations = new DurationHistogram(
      {
        name: 'apiserver_request_duration_seconds',
        help: 'Time from the arrival of a request to the end of its answer.',
        labelNames: LABELS,
        registry,
      },
      (labels) => ({ ...labels, component: COMPONENT }),
    );
    registry.registerMetric(
      new Counter({
        name: 'apiserver_request_total',
        help: 'Requests that were answered, refused ones too.',
        labelNames: [...LABELS, 'code'],
        registers: [],
        collect() {
          this.reset();
          for (const { labels, codes } of series.values()) {
            for (const [code, count] of codes) {
              this.inc({ ...labels, component: COMPONENT, code: String(code) }, count);
            }
          }
        },
      }),
    );
    registry.registerMetric(
      new Gauge({
        name: 'apiserver_current_inflight_requests',
        help: 'Requests that are being served now, long-running ones not counted.',
        labelNames: ['request_kind'],
        registers: [],
        collect() {
          this.set({ request_kind: 'readOnly' }, inFlight.readOnly);
          this.set({ request_kind: 'mutating' }, inFlight.mutating);
        },
      }),
    );
    registry.registerMetric(
      new Gauge({
        name: 'apiserver_longrunning_requests',
        help: 'Watches and other long-running requests that are open now.',
        labelNames: [...LABELS],
        registers: [],
        collect() {
          this.reset();
          for (const { labels, longRunning } of series.values()) {
            if (longRunning > 0) this.set({ ...labels, component: COMPONENT }, longRunning);
          }
        },
      }),
    );
    this.#terminations = new Counter({
      name: 'apiserver_request_terminations_total',
      help: 'Requests that the server cut in self-defence: too many at once, too slow, too large.',
      labelNames: ['verb', 'code'],
      registers: [registry],
    });
  }

  /** One finished request. */
  observe(labels: RequestLabels, code: number, seconds: number): void {
    const series = this.#seriesOf(labels);
    series.codes.set(code, (series.codes.get(code) ?? 0) + 1);
    this.#durations.observe(series.durations, seconds);
  }

  /** One finished long-running request: counted, but its duration says nothing. */
  count(labels: RequestLabels, code: number): void {
    const { codes } = this.#seriesOf(labels);
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }

  inflight(kind: RequestKind, change: 1 | -1): void {
    this.#inFlight[kind] += change;
  }

  longRunning(labels: RequestLabels, change: 1 | -1): void {
    this.#seriesOf(labels).longRunning += change;
  }

  terminated(verb: string, code: number): void {
    this.#terminations.inc({ verb, code: String(code) });
  }

  #seriesOf(labels: RequestLabels): Series {
    const { verb, group, version, resource, subresource, scope } = labels;
    const key = `${verb}\n${group}\n${version}\n${resource}\n${subresource}\n${scope}`;
    const known = this.#series.get(key);
    if (known) return known;
    if (this.#series.size >= MAX_SERIES && labels !== OVERFLOW) return this.#seriesOf(OVERFLOW);
    const kept = { verb, group, version, resource, subresource, scope };
    const made: Series = {
      labels: kept,
      durations: this.#durations.add(kept),
      codes: new Map(),
      longRunning: 0,
    };
    this.#series.set(key, made);
    return made;
  }
}
