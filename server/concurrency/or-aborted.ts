/**
 * Settles as `promise` does, or rejects with the signal's reason when it is aborted first. Nothing stays behind at the
 * signal: whoever waits again and again in a race with one promise that lasts keeps all that has come of the others.
 */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const leave = (): void => reject(signal.reason as Error);
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
