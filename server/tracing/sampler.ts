// Sampler: decides which requests are traced. A caller can request samples, but no more than a bounded number.

/** Maximum number of samples per second that callers request, of one caller and of all together. */
export const REQUESTED_SAMPLES = { caller: 10, all: 100 } as const;
const SECOND_MS = 1_000;

interface SamplerOptions {
  /** The option `tracing.samplingRatePerMillion`. */
  readonly ratePerMillion: number;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  /** Monotonic clock in ms. */
  readonly monotonic: () => number;
}

export class Sampler {
  readonly #options: SamplerOptions;
  /** Samples that callers have requested since the start of the current second. */
  readonly #requested = new Map<string, number>();
  #all = 0;
  #secondAt = Number.NEGATIVE_INFINITY;

  constructor(options: SamplerOptions) {
    this.#options = options;
  }

  /**
   * Samples the configured share of the requests. Independent of the trace ID, which a caller can choose so that a decision by it would
   * always be positive.
   */
  samples(): boolean {
    const { ratePerMillion, random } = this.#options;
    return ratePerMillion > 0 && random() * 1_000_000 < ratePerMillion;
  }

  /** Returns true if a caller who requests a sample gets it. */
  grants(caller: string): boolean {
    const now = this.#options.monotonic();
    if (now - this.#secondAt >= SECOND_MS) {
      this.#requested.clear();
      this.#all = 0;
      this.#secondAt = now;
    }
    const own = this.#requested.get(caller) ?? 0;
    if (own >= REQUESTED_SAMPLES.caller || this.#all >= REQUESTED_SAMPLES.all) return false;
    this.#requested.set(caller, own + 1);
    this.#all++;
    return true;
  }
}
