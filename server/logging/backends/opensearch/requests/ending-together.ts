import type { Call } from '../../../log-store.ts';

/**
 * Does work of several requests of which each is worth nothing without the others: when the work fails, what is still
 * under way of it ends.
 */
export async function endingTogether<Result>(
  call: Call,
  work: (call: Call) => Promise<Result>,
): Promise<Result> {
  const { signal } = call;
  signal.throwIfAborted();
  const ended = new AbortController();
  const leave = (): void => ended.abort(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await work({ ...call, signal: ended.signal });
  } catch (error) {
    ended.abort(error);
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
