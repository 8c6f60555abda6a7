// Limits the rate of log lines for a retried operation that fails repeatedly.
import { StatusError } from '../../apis/meta/v1/errors.ts';
import { messageOf } from '../../apis/reading/thrown-value.ts';

const REMINDER_MS = 60_000;

/** Selects the failures to log: the first one, each different one, and the same one once a minute. */
export class RepeatedFailure {
  readonly #monotonic: () => number;
  #logged: { readonly what: string; readonly at: number } | undefined;
  #count = 0;

  /** `monotonic`: monotonic clock in ms. */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** The number of consecutive failures. */
  get count(): number {
    return this.#count;
  }

  /**
   * Counts a failure. `what` identifies its kind. Returns true if the failure should be logged. `reminderMs`: time after
   * which the same failure should be logged again.
   */
  isNews(what: string, reminderMs = REMINDER_MS): boolean {
    this.#count++;
    const at = this.#monotonic();
    if (this.#logged?.what === what && at - this.#logged.at < reminderMs) return false;
    this.#logged = { what, at };
    return true;
  }

  /** Records a success. Returns the number of failures before it. */
  end(): number {
    const count = this.#count;
    this.#count = 0;
    this.#logged = undefined;
    return count;
  }
}

/** Returns the kind of a failure: the status code, because messages may contain object names, else the message. */
export function kindOfFailure(error: unknown): string {
  return error instanceof StatusError ? String(error.code) : messageOf(error);
}
