// Values of the server in a component: of a stream, of a request, or of a request that is repeated. They end with the
// component. Streams and repetitions also end while the page is hidden, because all tabs of a browser share six
// connections. After an error, the last value stays.
import { type Connection, ConnectionError, type StreamOptions } from 'ks-apiserver-client';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { useVisible } from './visible.ts';

export interface Loaded<T> {
  /** The last value; undefined before the first one. */
  readonly value: T | undefined;
  /** False while the value is still that of earlier inputs. */
  readonly isCurrent: boolean;
  /** Why the stream has ended, or the request has failed. */
  readonly error: Error | undefined;
  /** Opens the stream, or sends the request, again. */
  readonly retry: () => void;
}

export interface Live<T> extends Loaded<T> {
  /** Undefined while the stream is closed or not open yet. */
  readonly connection: Connection | undefined;
}

/** The values of a stream. `key`: opens another stream when it changes; undefined for no stream. */
export function useLive<T>(
  open: (options: StreamOptions & { readonly signal: AbortSignal }) => AsyncIterable<T>,
  key: string | undefined,
  isPaused = false,
): Live<T> {
  const { onConnection } = useExplore();
  const [connection, setConnection] = useState<Connection>();
  const isOpen = useVisible() && !isPaused && key !== undefined;
  const connected = (state: Connection): void => {
    setConnection(state);
    onConnection(state);
  };
  const read = (signal: AbortSignal) => open({ signal, onConnection: connected });
  const values = useValues(read, { key, isOpen, repeatMs: 0 });
  useEffect(
    () => () => {
      setConnection(undefined);
      // A stream that is closed waits for nothing.
      onConnection({ state: 'open' });
    },
    [key, isOpen],
  );
  return { ...values, connection };
}

/** The response to a request. `inputs`: what it depends on. `repeatMs`: pause before it is sent again; 0 for one request. */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  repeatMs = 0,
): Loaded<T> {
  const isVisible = useVisible();
  const key = useMemo(() => ({}), inputs);
  async function* read(signal: AbortSignal): AsyncGenerator<T> {
    yield await load(signal);
  }
  const values = useValues(read, { key, isOpen: isVisible || repeatMs === 0, repeatMs });
  // The next request can succeed; the frame shows a lost connection.
  const isLost = repeatMs > 0 && values.error instanceof ConnectionError;
  return isLost ? { ...values, error: undefined } : values;
}

interface ValueOptions {
  readonly key: unknown;
  readonly isOpen: boolean;
  readonly repeatMs: number;
}

function useValues<T>(
  read: (signal: AbortSignal) => AsyncIterable<T>,
  { key, isOpen, repeatMs }: ValueOptions,
): Loaded<T> {
  const [last, setLast] = useState<{ readonly value: T; readonly key: unknown }>();
  const [error, setError] = useState<Error>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (!isOpen) return undefined;
    const closed = new AbortController();
    const { signal } = closed;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const readAll = async (): Promise<void> => {
      try {
        for await (const value of read(signal)) {
          if (signal.aborted) return;
          setLast({ value, key });
          setError(undefined);
        }
      } catch (cause) {
        if (!signal.aborted) setError(cause instanceof Error ? cause : new Error(String(cause)));
      }
      if (repeatMs > 0 && !signal.aborted) timer = setTimeout(readAll, repeatMs);
    };
    void readAll();
    return () => {
      clearTimeout(timer);
      closed.abort();
      setError(undefined);
    };
    // `read` is another function in each render, and depends only on the key.
  }, [key, isOpen, repeatMs, attempt]);
  const retry = useCallback(() => setAttempt((count) => count + 1), []);
  return { value: last?.value, isCurrent: last?.key === key, error, retry };
}
