/** One waiter, woken by many. */
export class Wakeup {
  #pending = false;
  #resolve: (() => void) | undefined;

  wake(): void {
    this.#pending = true;
    this.#resolve?.();
  }

  /** Resolves at the next call of `wake`, at once when there was one meanwhile; false when `signal` is aborted. */
  async next(signal: AbortSignal): Promise<boolean> {
    if (!this.#pending && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = (): void => resolve();
      this.#resolve = resolve;
      signal.addEventListener('abort', end, { once: true });
      await promise;
      // It is called again and again with one signal, as long as the process lives.
      signal.removeEventListener('abort', end);
      this.#resolve = undefined;
    }
    this.#pending = false;
    return !signal.aborted;
  }
}
