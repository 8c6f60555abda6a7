// Values of the server in a component: of a stream, of a request, or of a request that is repeated. They end with the
// component. Streams and repetitions also end while the page is hidden, because all tabs of a browser share six
// connections. After an error, the last value stays.
import { type Connection, ConnectionError, type StreamOptions } from 'ks-apiserver-client';
import { useCallback, useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { ExploreContext } from '../context.ts';

export interface Live<T> {
  /** The last value; undefined before the first one. */
  readonly value: T | undefined;
  /** False while the value is still that of earlier inputs. */
  readonly isCurrent: boolean;
  /** Of a stream; undefined while it is closed or not open yet. */
  readonly connection: Connection | undefined;
  /** Why the stream has ended, or the request has failed. */
  readonly error: Error | undefined;
  /** Opens the stream, or sends the request, again. */
  readonly retry: () => void;
}

export type Loaded<T> = Omit<Live<T>, 'connection'>;

type Read<T> = (options: StreamOptions & { readonly signal: AbortSignal }) => AsyncIterable<T>;

/**
 * The values of a stream. `key`: opens another stream when it changes; undefined for no stream. `isPaused`: only the first
 * value of each stream.
 */
export function useLive<T>(open: Read<T>, key: string | undefined, isPaused = false): Live<T> {
  const isOpen = useVisible() && key !== undefined;
  return useValues(open, { key, isOpen, isPaused, repeatMs: 0 });
}

/** The response to a request. `inputs`: what it depends on. `repeatMs`: pause before it is sent again; 0 for one request. */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  repeatMs = 0,
): Loaded<T> {
  const isVisible = useVisible();
  const key = useMemo(() => ({}), inputs);
  const read: Read<T> = async function* ({ signal }) {
    yield await load(signal);
  };
  const values = useValues(read, { key, isOpen: isVisible || repeatMs === 0, repeatMs });
  // The next request can succeed; the frame shows a lost connection.
  const isLost = repeatMs > 0 && values.error instanceof ConnectionError;
  return isLost ? { ...values, error: undefined } : values;
}

function useVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const changed = (): void => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', changed);
    return () => document.removeEventListener('visibilitychange', changed);
  }, []);
  return isVisible;
}

interface ValueOptions {
  readonly key: unknown;
  readonly isOpen: boolean;
  readonly isPaused?: boolean;
  readonly repeatMs: number;
}

function useValues<T>(read: Read<T>, { key, isOpen, isPaused = false, repeatMs }: ValueOptions): Live<T> {
  const frame = useContext(ExploreContext);
  const [last, setLast] = useState<{ readonly value: T; readonly key: unknown }>();
  const [connection, setConnection] = useState<Connection>();
  const [error, setError] = useState<Error>();
  const [attempt, setAttempt] = useState(0);
  const isCurrent = last?.key === key;
  const isReading = isOpen && !(isPaused && isCurrent);
  useEffect(() => {
    if (!isReading) {
      setConnection(undefined);
      return undefined;
    }
    const closed = new AbortController();
    const { signal } = closed;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onConnection = (state: Connection): void => {
      setConnection(state);
      frame?.onConnection(state);
    };
    const readAll = async (): Promise<void> => {
      try {
        for await (const value of read({ signal, onConnection })) {
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
      // A stream that is closed waits for nothing.
      frame?.onConnection({ state: 'open' });
    };
    // `read` is another function in each render, and depends only on the key.
  }, [key, isReading, repeatMs, attempt]);
  const retry = useCallback(() => setAttempt((count) => count + 1), []);
  return { value: last?.value, isCurrent, connection, error, retry };
}
