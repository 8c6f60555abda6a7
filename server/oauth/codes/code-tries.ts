import type { BucketLimits } from '../throttle/bucket.ts';
import { BucketTable } from '../throttle/bucket-table.ts';
import { networkOf } from '../throttle/network.ts';

export interface CodeTriesOptions {
  /** Ms that never go back. */
  readonly monotonic: () => number;
}

// Ten slips of the finger, then one a minute: of at most 200 codes that are open among 25 thousand million, a guess hits
// one in 128 million times, and wins a device for the guesser's own account.
const LIMITS: BucketLimits = { failures: 10, delay: 5000, maxDelay: 60_000, reset: 600_000 };
const MAX_SOURCES = 10_000;

/** RFC 8628, 5.1: user codes that are not known, counted by source, so that a stranger slows down nobody else. */
export class CodeTries {
  readonly #options: CodeTriesOptions;
  readonly #table = new BucketTable(MAX_SOURCES);

  constructor(options: CodeTriesOptions) {
    this.#options = options;
  }

  /** Whole seconds until this source may try again; 0 when it may now. */
  wait(source: string): number {
    return Math.ceil(this.#table.remaining(networkOf(source), LIMITS, this.#options.monotonic()) / 1000);
  }

  failed(source: string): void {
    this.#table.fail(networkOf(source), LIMITS, this.#options.monotonic());
  }
}
