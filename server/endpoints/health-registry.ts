import { boundedSignal } from '../concurrency/bounded-signal.ts';
import { orAborted } from '../concurrency/or-aborted.ts';
import type { HealthCheck } from './health-check.ts';

/** A check that does not answer counts as failed after this time: probes give up after a few seconds themselves. */
const CHECK_TIMEOUT_MS = 2000;

export interface HealthResult {
  readonly name: string;
  /** Undefined when the check passed. */
  readonly failure: unknown;
  readonly text: string | undefined;
}

/** The named checks of one health path, in the order in which they were added. */
export class HealthRegistry {
  /** `livez`, `readyz` or `healthz`. */
  readonly path: string;
  readonly #checks = new Map<string, HealthCheck>();
  readonly #timeoutMs: number;

  constructor(path: string, timeoutMs = CHECK_TIMEOUT_MS) {
    this.path = path;
    this.#timeoutMs = timeoutMs;
  }

  add(...checks: readonly HealthCheck[]): this {
    for (const check of checks) this.#checks.set(check.name, check);
    return this;
  }

  has(name: string): boolean {
    return this.#checks.has(name);
  }

  get names(): string[] {
    return [...this.#checks.keys()];
  }

  /** Runs the named checks side by side, each bounded in time. */
  async run(names: readonly string[], signal: AbortSignal): Promise<HealthResult[]> {
    const checks = names.flatMap((name) => this.#checks.get(name) ?? []);
    return Promise.all(checks.map((check) => this.#run(check, signal)));
  }

  async #run(check: HealthCheck, signal: AbortSignal): Promise<HealthResult> {
    const { name } = check;
    try {
      using bounded = boundedSignal(signal, this.#timeoutMs);
      const answer = check.check(bounded.signal);
      const text = answer instanceof Promise ? await inTime(answer, bounded.signal) : answer;
      return { name, failure: undefined, text: text ?? undefined };
    } catch (error) {
      return { name, failure: error, text: undefined };
    }
  }
}

/** For checks that ignore their signal: nobody waits for them. */
async function inTime<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await orAborted(answer, signal);
  } catch (error) {
    if (error !== signal.reason) throw error;
    throw new Error('the check did not answer in time', { cause: error });
  }
}
