import { StatusError } from '../../apis/meta/v1/errors.ts';
import { messageOf } from '../../apis/reading/thrown-value.ts';

/** In ms. */
const REMIND_MS = 60_000;

/**
 * Which failures of one thing that is tried again and again are worth a line: the first, one that is another than before,
 * and after a minute a reminder. Whoever reads the log at night looks for what else there is.
 */
export class RepeatedFailure {
  readonly #monotonic: () => number;
  #told: { readonly what: string; readonly at: number } | undefined;
  #count = 0;

  /** `monotonic`: ms that never go back. */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Failures in a row. */
  get count(): number {
    return this.#count;
  }

  /** Counts a failure, told apart from others by `what`. */
  isNews(what: string): boolean {
    this.#count++;
    const at = this.#monotonic();
    if (this.#told?.what === what && at - this.#told.at < REMIND_MS) return false;
    this.#told = { what, at };
    return true;
  }

  /** It went well: the next failure is the first. Gives how many there were. */
  end(): number {
    const count = this.#count;
    this.#count = 0;
    this.#told = undefined;
    return count;
  }
}

/** What tells a failure apart where the message of a refusal names one object of many. */
export function kindOfFailure(error: unknown): string {
  return error instanceof StatusError ? String(error.code) : messageOf(error);
}
