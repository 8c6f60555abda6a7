import type { Logger } from 'pino';
import { pause } from '../concurrency/pause.ts';
import type { LogMetrics } from './log-metrics.ts';
import type { LogBackend } from './log-store.ts';
import { unfitOptionIn, unusableFileIn } from './store-errors.ts';

const GRACE_MS = 1_000;
const UNAVAILABLE = 'log queries get 503';

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
 * Checks the store's health now and then. The result is only shown: a server without its log store still serves
 * everything else, and queries find out themselves.
 */
export class StoreHealth {
  readonly #options: StoreHealthOptions;
  /** What is wrong, for everybody to read; empty when nothing is. */
  #fault: string | undefined;

  constructor(options: StoreHealthOptions) {
    this.#options = options;
  }

  /** For everybody to read; what the store, or the system, said is in the log only. */
  describe(): string {
    const { name } = this.#options;
    if (this.#fault === undefined) return `the store ${name} has not been asked yet`;
    return this.#fault === '' ? `the store ${name} answers` : this.#fault;
  }

  /** Until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { intervalMs = 15_000 } = this.#options;
    while (!signal.aborted) {
      await this.#look(signal);
      await pause(intervalMs, signal);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { name, backend, metrics, log, timeoutMs = 5_000 } = this.#options;
    // The store notices by itself that its time is over, and learns from it; this is for one that does not.
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs + GRACE_MS)]);
    const before = this.#fault;
    try {
      await backend.check({ signal: bounded, timeoutMs });
      this.#fault = '';
      if (before) log.info({ store: name }, 'the log store answers again');
    } catch (error) {
      if (signal.aborted) return;
      this.#fault = this.#faultIn(error);
      // Said once: a store that is not installed yet must not fill the log.
      if (this.#fault !== before) this.#tell(error);
    }
    metrics.storeUp(name, this.#fault === '');
  }

  #faultIn(error: unknown): string {
    const { name } = this.#options;
    const file = unusableFileIn(error);
    if (file) {
      return `the store ${name} is not asked, since the file of ${file.option} can not be used: ${file.reason}; ${UNAVAILABLE}`;
    }
    const unfit = unfitOptionIn(error);
    if (unfit)
      return `the store ${name} can not be used as ${unfit.option} says: ${unfit.reason}; ${unfit.effect}`;
    return `the store ${name} does not answer as it should; ${UNAVAILABLE}`;
  }

  #tell(error: unknown): void {
    const { name, log } = this.#options;
    const file = unusableFileIn(error);
    if (!file) {
      const unfit = unfitOptionIn(error);
      if (unfit)
        log.warn(
          { store: name, option: unfit.option, reason: unfit.reason },
          'the log store can not be used as it is configured',
        );
      else log.warn({ store: name, err: error }, 'the log store does not answer as it should');
      return;
    }
    const { option, path, reason } = file;
    log.warn(
      { store: name, option, path, reason },
      'a file that the log store needs can not be used: put it there, or name another one; it is read again by itself',
    );
  }
}
