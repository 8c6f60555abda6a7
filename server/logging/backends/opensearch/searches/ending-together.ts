import type { Call } from '../../../log-store.ts';

/**
 * Does work that takes several requests, each useless without the others: when one fails, those still under way are
 * ended.
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
