import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after `ms`, or early and without an error when `signal` is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
