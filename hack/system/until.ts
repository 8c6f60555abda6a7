// Polls a condition.
import { setTimeout as delay } from 'node:timers/promises';

interface UntilOptions {
  readonly signal: AbortSignal;
  /** Throws after this time, in ms. */
  readonly timeoutMs?: number;
  /** Time between two checks, in ms. */
  readonly pollMs?: number;
}

/** Resolves when the condition returns true. A rejection means not yet; the error at the timeout has it as its cause. */
export async function until(
  condition: (signal: AbortSignal) => Promise<boolean>,
  { signal, timeoutMs, pollMs = 100 }: UntilOptions,
): Promise<void> {
  const patience =
    timeoutMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  let cause: unknown;
  while (!patience.aborted) {
    try {
      if (await condition(patience)) return;
    } catch (error) {
      cause = error;
    }
    await delay(pollMs, undefined, { signal: patience }).catch(() => undefined);
  }
  signal.throwIfAborted();
  throw new Error(`a condition was not met after ${Number(timeoutMs) / 1000} s`, { cause });
}
