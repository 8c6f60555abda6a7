const LONGEST_MS = 60_000;

/** Pauses that double up to a minute, each drawn from the upper half so that replicas do not march in step. */
export class Backoff {
  readonly #first: number;
  #current: number;

  constructor(firstMs: number) {
    this.#first = firstMs;
    this.#current = firstMs;
  }

  get longest(): number {
    return Math.min(LONGEST_MS, this.#first * 60);
  }

  next(): number {
    const pauseMs = this.#current * (0.5 + Math.random() / 2);
    this.#current = Math.min(this.longest, this.#current * 2);
    return pauseMs;
  }

  reset(): void {
    this.#current = this.#first;
  }
}

/** Resolves after `ms`, or at once when `signal` is aborted; it does not reject. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) return Promise.resolve();
  const end = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    resolve();
  };
  const timer = setTimeout(end, ms);
  signal.addEventListener('abort', end);
  return promise;
}
