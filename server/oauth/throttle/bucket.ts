/** When delays begin and how they grow. Times in ms. */
export interface BucketLimits {
  /** Failures before the first delay. */
  readonly failures: number;
  /** The first delay; each further failure doubles it. */
  readonly delay: number;
  readonly maxDelay: number;
  /** Failures are forgotten after this time without another. */
  readonly reset: number;
}

/** What is remembered of failures elsewhere: on another replica, or before a restart. Times in ms since the epoch. */
export interface Failures {
  readonly failures: number;
  readonly lastAt: number;
}

/**
 * The failed attempts of one account, one source, or one account from one source. An attempt is pending from before
 * its password is hashed until its outcome is known, and counts as a failure meanwhile: attempts in parallel get no
 * further than attempts in a row.
 */
export class Bucket {
  readonly limits: BucketLimits;
  #failures = 0;
  #pending = 0;
  #lastAt = 0;

  constructor(limits: BucketLimits) {
    this.limits = limits;
  }

  get pending(): number {
    return this.#pending;
  }

  state(now: number): Failures {
    this.#forget(now);
    return { failures: this.#failures, lastAt: this.#lastAt };
  }

  /** Ms until an attempt may begin; 0 when it may now. */
  remaining(now: number): number {
    this.#forget(now);
    const over = this.#failures - this.limits.failures;
    if (over < 0) return 0;
    const delay = Math.min(this.limits.maxDelay, this.limits.delay * 2 ** Math.min(over, 40));
    return Math.max(0, this.#lastAt + delay - now);
  }

  /** Whether the attempts under way would, should all of them fail, use up what is left. */
  get full(): boolean {
    return this.#pending >= Math.max(1, this.limits.failures - this.#failures);
  }

  isDelaying(now: number): boolean {
    this.#forget(now);
    return this.#failures >= this.limits.failures;
  }

  isEmpty(now: number): boolean {
    this.#forget(now);
    return this.#pending === 0 && this.#failures === 0;
  }

  begin(): void {
    this.#pending++;
  }

  /** The attempt did not come to an end, or succeeded: it leaves no trace. */
  release(): void {
    this.#pending--;
  }

  fail(now: number): void {
    this.#forget(now);
    this.#pending--;
    this.#failures++;
    this.#lastAt = Math.max(this.#lastAt, now);
  }

  /** Forgets failures, because the owner of the account has signed in. */
  clear(): void {
    this.#failures = 0;
  }

  /** Takes over what is worse elsewhere; or that the failures up to `lastAt` are forgotten, when it tells of none. */
  merge({ failures, lastAt }: Failures): void {
    if (failures === 0 && lastAt >= this.#lastAt) this.clear();
    this.#failures = Math.max(this.#failures, failures);
    this.#lastAt = Math.max(this.#lastAt, lastAt);
  }

  #forget(now: number): void {
    // By a clock that was set back since, or the one of a replica that is ahead: nobody waits for what has not happened.
    this.#lastAt = Math.min(this.#lastAt, now);
    if (this.#failures > 0 && now - this.#lastAt > this.limits.reset) this.#failures = 0;
  }
}
