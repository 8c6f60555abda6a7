// A value that a component requests once, or again and again while the page is visible. After an error, the last value
// stays.
import { ConnectionError } from 'ks-apiserver-client';
import { useEffect, useState } from 'preact/hooks';
import { useVisible } from './visible.ts';

export interface Polled<T> {
  readonly value: T | undefined;
  readonly error: Error | undefined;
  readonly retry: () => void;
}

const INTERVAL_MS = 10_000;

/** `inputs`: what the request depends on. `interval`: in ms, 0 for a single request. */
export function usePolled<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  interval = INTERVAL_MS,
): Polled<T> {
  const [value, setValue] = useState<T>();
  const [error, setError] = useState<Error>();
  const [attempt, setAttempt] = useState(0);
  // A single request needs no repetition when the page becomes visible again.
  const isActive = useVisible() || interval === 0;
  useEffect(() => {
    if (!isActive) return undefined;
    const end = new AbortController();
    const { signal } = end;
    const request = async (): Promise<void> => {
      try {
        const loaded = await load(signal);
        if (signal.aborted) return;
        setValue(() => loaded);
        setError(undefined);
      } catch (failure) {
        // The next request can succeed; the frame shows a lost connection.
        if (signal.aborted || (interval > 0 && failure instanceof ConnectionError)) return;
        setError(failure instanceof Error ? failure : new Error(String(failure)));
      }
    };
    void request();
    const timer = interval > 0 ? setInterval(() => void request(), interval) : undefined;
    return () => {
      clearInterval(timer);
      end.abort();
    };
    // `load` is another function in each render, and depends only on the inputs.
  }, [...inputs, interval, isActive, attempt]);
  return { value, error, retry: () => setAttempt(attempt + 1) };
}
