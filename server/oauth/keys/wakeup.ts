/** One that waits, woken by many. */
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
      this.#resolve = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
      this.#resolve = undefined;
    }
    this.#pending = false;
    return !signal.aborted;
  }
}
