/** For how long a store has answered nobody: one that is slow with a question goes on with others, one that hangs does not. */
export class Silence {
  readonly #now: () => number;
  /** When it was asked for the first time since its last answer. */
  #since: number | undefined;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** 0 where nobody waits. */
  get ms(): number {
    return this.#since === undefined ? 0 : this.#now() - this.#since;
  }

  asked(): void {
    this.#since ??= this.#now();
  }

  /** Something came, whatever it says. */
  broken(): void {
    this.#since = undefined;
  }
}
