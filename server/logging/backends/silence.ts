/**
 * Longer than from one look at the store's health to the end of the next. One question alone may take so long; a store
 * that is only slow with it has answered such a look meanwhile.
 */
const SUSPICIOUS_MS = 20_000;

/** For how long a store has answered nobody: one that is slow with a question goes on with others, one that hangs does not. */
export class Silence {
  readonly #now: () => number;
  /** When it was asked for the first time since its last answer. */
  #since: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** 0 while it may only be slow. */
  get ms(): number {
    const ms = this.#since === undefined ? 0 : this.#now() - this.#since;
    return ms < SUSPICIOUS_MS ? 0 : ms;
  }

  asked(): void {
    this.#since ??= this.#now();
  }

  /** Something came, whatever it says. */
  broken(): void {
    this.#since = undefined;
  }
}
