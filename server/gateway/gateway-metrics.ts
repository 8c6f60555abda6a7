// Prometheus metrics of the gateway. Label values are constants and status codes, never names from requests.
import { Counter, Gauge, type Registry } from 'prom-client';
import { DurationHistogram } from '../observability/duration-histogram.ts';
import { knownStatus } from '../observability/status-code.ts';

const VERBS = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'other',
] as const;
type Verb = (typeof VERBS)[number];

interface GatewayGauges {
  readonly requests: () => number;
  readonly streams: () => number;
  /** Undefined if the tokens are not forwarded. */
  readonly trusted: () => boolean | undefined;
}

export class GatewayMetrics {
  readonly #requests: Counter<'verb' | 'code' | 'upgrade'>;
  readonly #durations: DurationHistogram<Verb>;
  readonly #series: ReadonlyMap<string, number>;

  constructor(registry: Registry, gauges: GatewayGauges) {
    this.#requests = new Counter({
      name: 'gateway_requests_total',
      help: 'Completed requests of the gateway by verb, status code and upgrade: `websocket`, `spdy`, or empty. 499: the client disconnected before the response.',
      labelNames: ['verb', 'code', 'upgrade'],
      registers: [registry],
    });
    this.#durations = new DurationHistogram<Verb>(
      {
        name: 'gateway_upstream_duration_seconds',
        help: 'Time to the response headers of kube-apiserver, by verb.',
        labelNames: ['verb'],
        registry,
      },
      (verb) => ({ verb }),
    );
    this.#series = new Map(VERBS.map((verb) => [verb, this.#durations.add(verb)]));
    const open = new Gauge({
      name: 'gateway_open_requests',
      help: 'Open requests of the gateway by kind: `request` or `stream`.',
      labelNames: ['kind'],
      registers: [],
      collect() {
        this.set({ kind: 'request' }, gauges.requests());
        this.set({ kind: 'stream' }, gauges.streams());
      },
    });
    const trusted = new Gauge({
      name: 'gateway_tokens_trusted',
      help: '1 if kube-apiserver accepts the tokens of this server, else 0. Absent without the authorization server, and with `gateway.impersonation: all`.',
      registers: [],
      collect() {
        const value = gauges.trusted();
        this.remove();
        if (value !== undefined) this.set(value ? 1 : 0);
      },
    });
    for (const gauge of [open, trusted]) registry.registerMetric(gauge);
  }

  /** `upgrade`: the requested protocol; empty for none. */
  completed(verb: string, code: number, upgrade: string): void {
    const protocol = upgrade === '' ? '' : protocolOf(upgrade);
    this.#requests.inc({ verb: this.#known(verb), code: knownStatus(code), upgrade: protocol });
  }

  /** Observes the time to the response headers, in seconds. */
  responded(verb: string, seconds: number): void {
    const series = this.#series.get(this.#known(verb));
    if (series !== undefined) this.#durations.observe(series, seconds);
  }

  #known(verb: string): Verb {
    return VERBS.find((known) => known === verb) ?? 'other';
  }
}

/** The listener accepts only these two protocols. */
function protocolOf(upgrade: string): 'websocket' | 'spdy' {
  return upgrade.toLowerCase() === 'websocket' ? 'websocket' : 'spdy';
}
