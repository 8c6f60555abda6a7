// Prometheus metrics of log queries. Label values are constants, never names from requests.
import { Counter, Gauge, type Registry } from 'prom-client';
import { isExpired, StatusError } from '../../../apis/meta/v1/errors.ts';
import { DurationHistogram } from '../../observability/duration-histogram.ts';

const LOG_OPERATIONS = ['query', 'context', 'statistics', 'histogram', 'export', 'follow'] as const;
export type LogOperation = (typeof LOG_OPERATIONS)[number];

/** Documented in the help text of `log_queries_total`. */
type LogOutcome = 'ok' | 'partial' | 'refused' | 'limited' | 'unavailable' | 'expired' | 'canceled' | 'error';

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
      help: 'Completed log queries by operation and outcome: `ok`, `partial`, `refused` (400, 404), `limited` (429, or a live tail beyond its limits), `unavailable` (503, 504), `expired` (permissions of an export or live tail changed), `canceled` (by the caller), `error`.',
      labelNames: ['operation', 'outcome'],
      registers,
    });
    this.#durations = new DurationHistogram<LogOperation>(
      {
        name: 'log_query_duration_seconds',
        help: 'Duration of successful log queries except live tails, by operation.',
        labelNames: ['operation'],
        registry,
      },
      (operation) => ({ operation }),
    );
    this.#series = new Map(LOG_OPERATIONS.map((operation) => [operation, this.#durations.add(operation)]));
    this.#inFlight = new Gauge({
      name: 'log_queries_in_flight',
      help: 'Log queries in progress, by operation.',
      labelNames: ['operation'],
      registers,
    });
    this.#lines = new Counter({
      name: 'log_lines_streamed_total',
      help: 'Lines of exports and live tails.',
      labelNames: ['operation'],
      registers,
    });
    this.#up = new Gauge({
      name: 'log_store_up',
      help: '1 if the log store is healthy, else 0.',
      labelNames: ['store'],
      registers,
    });
  }

  began(operation: LogOperation): void {
    this.#inFlight.inc({ operation });
  }

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

/** The outcome of a query that failed. `headersSent`: the response has begun, so it is not an error of the caller. */
export function outcomeOf(
  error: unknown,
  { signal, headersSent }: { readonly signal: AbortSignal; readonly headersSent: boolean },
): LogOutcome {
  if (!(error instanceof StatusError)) return signal.aborted ? 'canceled' : 'error';
  // A store may report a cancellation as another error, such as a timeout.
  if (!headersSent && signal.aborted && !(signal.reason instanceof StatusError)) return 'canceled';
  if (isExpired(error)) return 'expired';
  if (error.code === 429) return 'limited';
  if (error.code === 503 || error.code === 504) return 'unavailable';
  if (error.code >= 500) return 'error';
  return headersSent ? 'limited' : 'refused';
}
