/** Limits how many logs are read at a time, by all callers together; first come, first served. */
export class ReadSlots {
  readonly #waiting = new Set<() => void>();
  readonly count: number;
  #free: number;

  constructor(count: number) {
    this.count = count;
    this.#free = count;
  }

  /** Waits for a slot, which is given back by disposing of it. Rejects when `signal` is aborted first. */
  async take(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(signal);
    return { [Symbol.dispose]: () => this.#giveBack() };
  }

  #turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      this.#waiting.delete(enter);
      reject(signal.reason as Error);
    };
    const enter = (): void => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.add(enter);
    return promise;
  }

  #giveBack(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
