// Prometheus metrics of requests, with the names of kube-apiserver's metrics.
import { Counter, Gauge, type Registry } from 'prom-client';
import { DurationHistogram } from '../observability/duration-histogram.ts';
import { knownStatus } from '../observability/status-code.ts';

/** The labels of a request. The number of label sets is bounded: no label contains a name or path from the client. */
export interface RequestLabels {
  /** `GET`, `LIST`, `WATCH`, `POST`, …, `CONNECT`; `OTHER` for other methods. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** `cluster`, `namespace`, `resource`, or empty for non-resource paths. */
  readonly scope: string;
}

export type RequestKind = 'readOnly' | 'mutating';

const LABELS = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;

/** The value of the label `component`, which Kubernetes dashboards select. */
const COMPONENT = 'apiserver';

/** Maximum number of label sets, above any legitimate use. Further ones share the series OVERFLOW. */
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

export type RequestObserver = Pick<RequestMetrics, keyof RequestMetrics>;

/** For speed, a request only increments plain numbers; prom-client reads the numbers at a scrape. */
export class RequestMetrics {
  readonly #durations: DurationHistogram<RequestLabels>;
  readonly #series: Series[] = [];
  /** The same by resource. A comparison of labels costs less than a string with all of them. */
  readonly #byResource = new Map<string, Series[]>();
  readonly #inFlight: Record<RequestKind, number> = { readOnly: 0, mutating: 0 };
  readonly #terminations: Counter<'verb' | 'code'>;

  constructor(registry: Registry) {
    const series = this.#series;
    const inFlight = this.#inFlight;
    this.#durations = new DurationHistogram(
      {
        name: 'apiserver_request_duration_seconds',
        help: 'Duration of requests and their responses.',
        labelNames: LABELS,
        registry,
      },
      (labels) => ({ ...labels, component: COMPONENT }),
    );
    registry.registerMetric(
      new Counter({
        name: 'apiserver_request_total',
        help: 'Completed requests, including rejected ones.',
        labelNames: [...LABELS, 'code'],
        registers: [],
        collect() {
          this.reset();
          for (const { labels, codes } of series) {
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
        help: 'Requests in flight, except long-running ones.',
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
        help: 'Open watches and other streams.',
        labelNames: [...LABELS],
        registers: [],
        collect() {
          this.reset();
          for (const { labels, longRunning } of series) {
            if (longRunning > 0) this.set({ ...labels, component: COMPONENT }, longRunning);
          }
        },
      }),
    );
    this.#terminations = new Counter({
      name: 'apiserver_request_terminations_total',
      help: 'Requests terminated by a limit: concurrency (429), deadline (504), body size (413).',
      labelNames: ['verb', 'code'],
      registers: [registry],
    });
  }

  /** Records a completed request. */
  observe(labels: RequestLabels, code: number, seconds: number): void {
    const series = this.#seriesOf(labels);
    addTo(series, code);
    this.#durations.observe(series.durations, seconds);
  }

  /** Records a completed long-running request, without its duration. */
  count(labels: RequestLabels, code: number): void {
    addTo(this.#seriesOf(labels), code);
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
    const candidates = this.#byResource.get(resource);
    const found = candidates?.find(
      ({ labels: known }) =>
        known.verb === verb &&
        known.group === group &&
        known.version === version &&
        known.subresource === subresource &&
        known.scope === scope,
    );
    if (found) return found;
    if (this.#series.length >= MAX_SERIES && labels !== OVERFLOW) return this.#seriesOf(OVERFLOW);
    const kept = { verb, group, version, resource, subresource, scope };
    const made: Series = {
      labels: kept,
      durations: this.#durations.add(kept),
      codes: new Map(),
      longRunning: 0,
    };
    this.#series.push(made);
    if (candidates) candidates.push(made);
    else this.#byResource.set(resource, [made]);
    return made;
  }
}

function addTo({ codes }: Series, status: number): void {
  const code = knownStatus(status);
  codes.set(code, (codes.get(code) ?? 0) + 1);
}
