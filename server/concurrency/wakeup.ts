/** Wakes one waiting loop. */
export class Wakeup {
  #pending = false;
  #resolve: (() => void) | undefined;

  wake(): void {
    this.#pending = true;
    this.#resolve?.();
  }

  /** Resolves at the next call of `wake`, at once after an earlier one. Returns false when `signal` is aborted. */
  async next(signal: AbortSignal): Promise<boolean> {
    if (!this.#pending && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = (): void => resolve();
      this.#resolve = resolve;
      signal.addEventListener('abort', end, { once: true });
      await promise;
      // The loop reuses one signal for the lifetime of the process.
      signal.removeEventListener('abort', end);
      this.#resolve = undefined;
    }
    this.#pending = false;
    return !signal.aborted;
  }
}
