// Metrics of log queries. Label values are our own words, never a name that a caller sent.
import { Counter, Gauge, type Registry } from 'prom-client';
import { DurationHistogram } from '../observability/duration-histogram.ts';

const LOG_OPERATIONS = ['query', 'context', 'statistics', 'histogram', 'export', 'follow'] as const;
export type LogOperation = (typeof LOG_OPERATIONS)[number];

/**
 * `ok`: whole; `partial`: something is missing, and said so; `refused`: a fault of the caller; `limited`: too many, or
 * too much; `unavailable`: the store or the cluster; `expired`: a live tail whose caller may see something else by now, or
 * an export whose caller may see less; `canceled`: the caller left; `error`: a fault of ours.
 */
export type LogOutcome =
  | 'ok'
  | 'partial'
  | 'refused'
  | 'limited'
  | 'unavailable'
  | 'expired'
  | 'canceled'
  | 'error';

export class LogMetrics {
  readonly #queries: Counter<'operation' | 'outcome'>;
  readonly #durations: DurationHistogram<LogOperation>;
  readonly #series: ReadonlyMap<LogOperation, number>;
  readonly #inFlight: Gauge<'operation'>;
  readonly #lines: Counter<'operation'>;
  readonly #up: Gauge<'store'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#queries = new Counter({
      name: 'log_queries_total',
      help: 'Log queries that have ended, by operation and what became of them: `ok`, `partial`, `refused` (400, 404), `limited` (429, or a live tail of too much), `unavailable` (503, 504), `expired` (a live tail whose caller may see something else by now, or an export whose caller may see less), `canceled` (the caller left), `error`.',
      labelNames: ['operation', 'outcome'],
      registers,
    });
    this.#durations = new DurationHistogram<LogOperation>(
      {
        name: 'log_query_duration_seconds',
        help: 'How long log queries took that were answered, by operation; without those that follow.',
        labelNames: ['operation'],
        registry,
      },
      (operation) => ({ operation }),
    );
    this.#series = new Map(LOG_OPERATIONS.map((operation) => [operation, this.#durations.add(operation)]));
    this.#inFlight = new Gauge({
      name: 'log_queries_in_flight',
      help: 'Log queries that the store is working on, by operation.',
      labelNames: ['operation'],
      registers,
    });
    this.#lines = new Counter({
      name: 'log_lines_streamed_total',
      help: 'Lines that were exported or followed.',
      labelNames: ['operation'],
      registers,
    });
    this.#up = new Gauge({
      name: 'log_store_up',
      help: '1 when the log store answered the last time it was asked how it is, else 0.',
      labelNames: ['store'],
      registers,
    });
  }

  began(operation: LogOperation): void {
    this.#inFlight.inc({ operation });
  }

  /** Of a query that began. */
  left(operation: LogOperation): void {
    this.#inFlight.dec({ operation });
  }

  ended(operation: LogOperation, outcome: LogOutcome, seconds: number): void {
    this.#queries.inc({ operation, outcome });
    const answered = outcome === 'ok' || outcome === 'partial';
    if (answered && operation !== 'follow')
      this.#durations.observe(this.#series.get(operation) ?? 0, seconds);
  }

  streamed(operation: 'export' | 'follow', lines: number): void {
    this.#lines.inc({ operation }, lines);
  }

  storeUp(store: string, up: boolean): void {
    this.#up.set({ store }, up ? 1 : 0);
  }
}
