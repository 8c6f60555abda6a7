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

type Read<T> = (options: StreamOptions & { readonly signal: AbortSignal }) => AsyncIterable<T>;

interface LiveOptions {
  /** Only the first value of each stream. */
  readonly isPaused?: boolean;
  /** Pause before the values are read again; 0 for reading them once, also while the page is hidden. */
  readonly repeatMs?: number;
}

/** The response to a request. `inputs`: what it depends on. `repeatMs`: pause before it is sent again; 0 for one request. */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  repeatMs = 0,
): Live<T> {
  const key = useMemo(() => ({}), inputs);
  const read: Read<T> = async function* ({ signal }) {
    yield await load(signal);
  };
  const live = useLive(read, key, { repeatMs });
  // The next request can succeed; the frame shows a lost connection.
  return repeatMs > 0 && live.error instanceof ConnectionError ? { ...live, error: undefined } : live;
}

/** The values of a stream. `key`: opens another stream when it changes; undefined for no stream. */
export function useLive<T>(
  read: Read<T>,
  key: unknown,
  { isPaused = false, repeatMs }: LiveOptions = {},
): Live<T> {
  const frame = useContext(ExploreContext);
  const isVisible = useVisible();
  const [last, setLast] = useState<{ readonly value: T; readonly key: unknown }>();
  const [connection, setConnection] = useState<Connection>();
  const [error, setError] = useState<Error>();
  const [attempt, setAttempt] = useState(0);
  const isCurrent = last?.key === key;
  const isOpen = key !== undefined && (isVisible || repeatMs === 0);
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
      if (repeatMs && !signal.aborted) timer = setTimeout(readAll, repeatMs);
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

function useVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const changed = (): void => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', changed);
    return () => document.removeEventListener('visibilitychange', changed);
  }, []);
  return isVisible;
}
