// Prometheus metric of exported and dropped spans.
import { Counter, type Registry } from 'prom-client';

/** `queue_full`: too many spans waited for the collector. `rejected`: by the collector. */
const OUTCOMES = ['exported', 'rejected', 'queue_full'] as const;

export class TracingMetrics {
  readonly #spans: Counter<'outcome'>;

  constructor(registry: Registry) {
    this.#spans = new Counter({
      name: 'tracing_spans_total',
      help: 'Spans: `exported`, `rejected` by the collector, or dropped because too many waited (`queue_full`). Absent without `tracing.endpoint`.',
      labelNames: ['outcome'],
      registers: [registry],
    });
    for (const outcome of OUTCOMES) this.#spans.inc({ outcome }, 0);
  }

  count(outcome: (typeof OUTCOMES)[number], spans: number): void {
    this.#spans.inc({ outcome }, spans);
  }
}
