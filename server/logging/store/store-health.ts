// Periodic health check of the log store, for operators. The result affects neither readiness nor log queries.
import type { Logger } from 'pino';
import { boundedSignal } from '../../concurrency/bounded-signal.ts';
import { pause } from '../../concurrency/pause.ts';
import { unfitOptionIn } from './configuration-errors.ts';
import type { LogMetrics } from './log-metrics.ts';
import type { LogBackend } from './log-store.ts';

const TIMEOUT_MS = 5_000;
const GRACE_MS = 1_000;
const EFFECT = 'log queries return 503';

interface StoreHealthOptions {
  /** The value of `logging.store`. */
  readonly name: string;
  readonly backend: Pick<LogBackend, 'check'>;
  readonly metrics: Pick<LogMetrics, 'storeUp'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Interval of the checks in ms; 15,000 by default. */
  readonly intervalMs?: number;
}

export class StoreHealth {
  readonly #options: StoreHealthOptions;
  /** The public message; empty when healthy, undefined before the first check. */
  #problem: string | undefined;

  constructor(options: StoreHealthOptions) {
    this.#options = options;
  }

  describe(): string {
    const { name } = this.#options;
    if (this.#problem === undefined) return `the log store ${name} has not been checked yet`;
    return this.#problem === '' ? `the log store ${name} is available` : this.#problem;
  }

  /** Runs until `signal` is aborted; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { intervalMs = 15_000 } = this.#options;
    while (!signal.aborted) {
      await this.#check(signal);
      await pause(intervalMs, signal);
    }
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { name, backend, metrics, log } = this.#options;
    // Bounds a store that ignores `timeoutMs`.
    using bounded = boundedSignal(signal, TIMEOUT_MS + GRACE_MS);
    const before = this.#problem;
    try {
      await backend.check({ signal: bounded.signal, timeoutMs: TIMEOUT_MS });
      this.#problem = '';
      if (before) log.info({ store: name }, 'the log store is available again');
    } catch (error) {
      if (signal.aborted) return;
      const { description, logged, message } = problemOf(error, name);
      this.#problem = description;
      // A warning is logged once: a store that is not installed must not flood the log.
      if (description !== before) log.warn(logged, message);
    }
    metrics.storeUp(name, this.#problem === '');
  }
}

interface Problem {
  /** Public; details of the store and the system are only logged. */
  readonly description: string;
  readonly logged: object;
  readonly message: string;
}

function problemOf(error: unknown, store: string): Problem {
  const unfit = unfitOptionIn(error);
  if (unfit) {
    const { option, path, reason, effect } = unfit;
    return {
      description: `the log store ${store} does not match ${option}: ${reason}; ${effect}`,
      logged: { store, option, reason, ...(path === undefined ? {} : { path }) },
      message: 'the log store does not match its configuration',
    };
  }
  return {
    description: `the log store ${store} is unavailable; ${EFFECT}`,
    logged: { store, err: error },
    message: 'the log store is unavailable',
  };
}
