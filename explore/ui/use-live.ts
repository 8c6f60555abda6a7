// A live value of the server in a component: the stream closes with the component, while the page is hidden and while it
// is paused, because all tabs of a browser share six connections.
import type { Connection, StreamOptions } from 'ks-apiserver-client';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { useVisible } from './visible.ts';

export interface Live<T> {
  /** The last value; undefined before the first one. */
  readonly value: T | undefined;
  /** False while the value is still that of an earlier key. */
  readonly isCurrent: boolean;
  /** Undefined while the stream is closed or not open yet. */
  readonly connection: Connection | undefined;
  /** Why the stream has ended. */
  readonly error: Error | undefined;
  /** Opens the stream again after an error. */
  readonly retry: () => void;
}

/** `key`: opens another stream when it changes; undefined for no stream. */
export function useLive<T>(
  open: (options: StreamOptions & { readonly signal: AbortSignal }) => AsyncIterable<T>,
  key: string | undefined,
  isPaused = false,
): Live<T> {
  const { onConnection } = useExplore();
  const [last, setLast] = useState<{ readonly value: T; readonly key: string }>();
  const [connection, setConnection] = useState<Connection>();
  const [error, setError] = useState<Error>();
  const [attempt, setAttempt] = useState(0);
  const isVisible = useVisible();
  const isOpen = isVisible && !isPaused;
  useEffect(() => {
    if (key === undefined || !isOpen) return undefined;
    const closed = new AbortController();
    const { signal } = closed;
    const connected = (state: Connection): void => {
      setConnection(state);
      onConnection(state);
    };
    const read = async (): Promise<void> => {
      for await (const value of open({ signal, onConnection: connected })) {
        if (signal.aborted) return;
        setLast({ value, key });
        setError(undefined);
      }
    };
    read().catch((cause: unknown) => {
      if (!signal.aborted) setError(cause instanceof Error ? cause : new Error(String(cause)));
    });
    return () => {
      closed.abort();
      setConnection(undefined);
      // A stream that is closed waits for nothing.
      onConnection({ state: 'open' });
      setError(undefined);
    };
    // `open` is another function in each render, and depends only on the key.
  }, [key, isOpen, attempt]);
  return {
    ...{ value: last?.value, isCurrent: last?.key === key, connection, error },
    retry: useCallback(() => setAttempt((count) => count + 1), []),
  };
}
