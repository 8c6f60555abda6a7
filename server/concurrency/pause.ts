import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after so many ms; earlier, and without an error, when `signal` is aborted: whoever waits looks at it next. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
