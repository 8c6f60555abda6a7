/**
 * Wake-up signal for a loop that waits for work. Several calls of `wake` while the loop is busy wake the loop once.
 */
export class Wakeup {
  #pending = false;
  #resolve: (() => void) | undefined;

  wake(): void {
    this.#pending = true;
    this.#resolve?.();
  }

  /**
   * Waits for a call of `wake` since the last wake-up, at most `timeoutMs`. Returns true, or false if `signal` is aborted.
   */
  async next(signal: AbortSignal, timeoutMs?: number): Promise<boolean> {
    if (!this.#pending && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = (): void => resolve();
      this.#resolve = resolve;
      signal.addEventListener('abort', end, { once: true });
      const timer = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs);
      await promise;
      clearTimeout(timer);
      // The loop uses one signal for the lifetime of the process, so a listener per wait would leak memory.
      signal.removeEventListener('abort', end);
      this.#resolve = undefined;
    }
    this.#pending = false;
    return !signal.aborted;
  }
}
