/** The signal of work that is always completed. */
export const NEVER_ABORTED: AbortSignal = new AbortController().signal;

/** Resolves when `signal` is aborted, or at once if it is already aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}
