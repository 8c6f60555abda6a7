// Limits the processes of checks and tests that run in parallel, over all stages.

export class Jobs {
  /** Number of seats. */
  readonly limit: number;
  readonly #waiting: { readonly seats: number; readonly start: () => void }[] = [];
  #free: number;

  constructor(limit: number) {
    this.limit = limit;
    this.#free = limit;
  }

  /** Runs the work when its seats are free, in the order of the calls. `seats`: at most the limit. */
  async run<Result>(work: () => Promise<Result>, seats = 1): Promise<Result> {
    await new Promise<void>((start) => {
      this.#waiting.push({ seats, start });
      this.#startNext();
    });
    try {
      return await work();
    } finally {
      this.#free += seats;
      this.#startNext();
    }
  }

  #startNext(): void {
    for (let next = this.#waiting[0]; next && next.seats <= this.#free; next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#free -= next.seats;
      next.start();
    }
  }
}
