import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { LogMetrics } from '../observability/log-metrics.ts';
import type { LogBackend } from './log-store.ts';

export interface StoreHealthOptions {
  /** As the configuration calls it. */
  readonly name: string;
  readonly backend: Pick<LogBackend, 'check'>;
  readonly metrics: Pick<LogMetrics, 'storeUp'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Ms between two looks; 15,000 when none is given. */
  readonly intervalMs?: number;
  readonly timeoutMs?: number;
}

/**
 * Asks the store now and then how it is. What it finds is shown and never acted on: a server without its log store
 * still serves everything else, and a query finds out by itself.
 */
export class StoreHealth {
  readonly #options: StoreHealthOptions;
  #up: boolean | undefined;

  constructor(options: StoreHealthOptions) {
    this.#options = options;
  }

  get up(): boolean | undefined {
    return this.#up;
  }

  /** For everybody to read; the reason of a failure is in the log only. */
  describe(): string {
    const { name } = this.#options;
    if (this.#up === undefined) return `the store ${name} has not been asked yet`;
    return this.#up ? `the store ${name} answers` : `the store ${name} does not answer; log queries get 503`;
  }

  /** Until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { intervalMs = 15_000 } = this.#options;
    while (!signal.aborted) {
      await this.#look(signal);
      // An abort is the only thing that ends the wait early.
      await delay(intervalMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { name, backend, metrics, log, timeoutMs = 5_000 } = this.#options;
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      await backend.check({ signal: bounded, timeoutMs });
      if (this.#up === false) log.info({ store: name }, 'the log store answers again');
      this.#up = true;
    } catch (error) {
      if (signal.aborted) return;
      // Said once: a store that is not installed yet must not fill the log.
      if (this.#up !== false) log.warn({ store: name, err: error }, 'the log store does not answer');
      this.#up = false;
    }
    metrics.storeUp(name, this.#up);
  }
}
