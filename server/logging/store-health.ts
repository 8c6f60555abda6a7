import type { Logger } from 'pino';
import { boundedSignal } from '../concurrency/bounded-signal.ts';
import { pause } from '../concurrency/pause.ts';
import { unfitOptionIn, unusableFileIn } from './configuration-errors.ts';
import type { LogMetrics } from './log-metrics.ts';
import type { LogBackend } from './log-store.ts';

const TIMEOUT_MS = 5_000;
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
}

/**
 * Checks the store's health now and then. The result is only shown: a server without its log store still serves
 * everything else, and queries find out themselves.
 */
export class StoreHealth {
  readonly #options: StoreHealthOptions;
  /** What is wrong, as it is shown; empty when nothing is. */
  #fault: string | undefined;

  constructor(options: StoreHealthOptions) {
    this.#options = options;
  }

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
    const { name, backend, metrics, log } = this.#options;
    // The store notices by itself that its time is over, and learns from it; this is for one that does not.
    using bounded = boundedSignal(signal, TIMEOUT_MS + GRACE_MS);
    const before = this.#fault;
    try {
      await backend.check({ signal: bounded.signal, timeoutMs: TIMEOUT_MS });
      this.#fault = '';
      if (before) log.info({ store: name }, 'the log store answers again');
    } catch (error) {
      if (signal.aborted) return;
      const { shown, logged, message } = faultIn(error, name);
      this.#fault = shown;
      // Said once: a store that is not installed yet must not fill the log.
      if (shown !== before) log.warn(logged, message);
    }
    metrics.storeUp(name, this.#fault === '');
  }
}

interface Fault {
  /** For everybody to read; what the store, or the system, said is in the log only. */
  readonly shown: string;
  readonly logged: object;
  readonly message: string;
}

function faultIn(error: unknown, store: string): Fault {
  const file = unusableFileIn(error);
  if (file) {
    const { option, path, reason } = file;
    return {
      shown: `the store ${store} is not asked, since the file of ${option} cannot be used: ${reason}; ${UNAVAILABLE}`,
      logged: { store, option, path, reason },
      message:
        'a file that the log store needs cannot be used: put it there, or name another one; it is read again by itself',
    };
  }
  const unfit = unfitOptionIn(error);
  if (unfit) {
    const { option, reason, effect } = unfit;
    return {
      shown: `the store ${store} cannot be used as ${option} says: ${reason}; ${effect}`,
      logged: { store, option, reason },
      message: 'the log store cannot be used as it is configured',
    };
  }
  return {
    shown: `the store ${store} does not answer as it should; ${UNAVAILABLE}`,
    logged: { store, err: error },
    message: 'the log store does not answer as it should',
  };
}
