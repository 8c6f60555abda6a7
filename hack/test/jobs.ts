// Limits the number of processes that run tests in parallel, also over two suites.

export class Jobs {
  readonly limit: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(limit: number) {
    this.limit = limit;
    this.#free = limit;
  }

  /** Runs the work when a job is free, in the order of the calls. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
