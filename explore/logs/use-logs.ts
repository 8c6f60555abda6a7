// The lines of a query: the newest page first, older ones on demand, and new ones while the view is live.
import {
  type LogPage,
  type LogQuery,
  type LogRecord,
  newestLines,
  type ShownLines,
  type StreamOptions,
  type TimeRange,
  withNewLines,
  withOlderLines,
} from 'ks-apiserver-client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { type Live, useLive, useLoaded } from '../ui/use-live.ts';

const PAGE = 200;
/** A tail begins with the last seconds that are shown, because lines arrive late. */
const OVERLAP_S = 5;
/** Time in ms in which the new lines of a tail are collected. */
const BATCH_MS = 250;

interface Loaded {
  /** Of the query. */
  readonly key: string;
  readonly shown: ShownLines;
  /** The page that was read last. */
  readonly page?: LogPage | undefined;
  /** Cursor of the page that the user has requested last; undefined for the newest one. */
  readonly requested?: string | undefined;
}

export interface Logs extends Pick<Loaded, 'page'>, ShownLines {
  readonly isLoading: boolean;
  readonly error: Error | undefined;
  readonly retry: () => void;
  /** Loads older lines, if there are any. */
  readonly older: (() => void) | undefined;
  readonly tail: Live<never>;
  /** Number of lines of the tail that wait for the end of a pause. */
  readonly waiting: number;
}

export interface LogsOptions {
  readonly query: LogQuery;
  readonly range: TimeRange;
  /** Changes when the query must be sent again. */
  readonly key: string;
  readonly isLive: boolean;
  readonly isPaused: boolean;
}

const NONE: Loaded = { key: '', shown: { lines: [], isCut: false } };

export function useLogs({ query, range, key, isLive, isPaused }: LogsOptions): Logs {
  const { client } = useExplore();
  const [loaded, setLoaded] = useState(NONE);
  const isSame = loaded.key === key;
  const cursor = isSame ? loaded.requested : undefined;
  const sent = { ...query, ...range, highlight: true, severity: true };
  const load = async (signal: AbortSignal): Promise<void> => {
    const page = await client.logs.query({ ...sent, size: PAGE, cursor }, { signal });
    setLoaded(({ shown: before }) => {
      const later = cursor === undefined ? NONE.shown : before;
      return { key, page, requested: cursor, shown: withOlderLines(later, page) };
    });
  };
  const { isCurrent, error, retry } = useLoaded(load, [key, cursor]);
  const { shown, page } = isSame || !error ? loaded : NONE;

  const last = shown.lines.at(-1);
  const since = Math.max(range.end_time, last ? Math.floor(Date.parse(last.time) / 1000) : 0) - OVERLAP_S;
  const tailed = { ...sent, start_time: since, end_time: undefined };
  // New lines in batches; while the tail is paused, the newest ones wait.
  const buffer = useRef<LogRecord[]>([]);
  const [waiting, setWaiting] = useState(0);
  // oxlint-disable-next-line require-yield -- the buffer has the lines
  const read = async function* (options: StreamOptions): AsyncGenerator<never> {
    // All lines after the shown ones are read again.
    buffer.current = [];
    for await (const line of client.logs.tail(tailed, options)) buffer.current.push(line);
  };
  const tail = useLive(read, isLive && isSame ? key : undefined);
  useEffect(() => {
    const flush = (): void => {
      buffer.current = newestLines(buffer.current);
      if (!isPaused && buffer.current.length > 0) {
        const more = buffer.current.splice(0);
        setLoaded((before) => ({ ...before, shown: withNewLines(before.shown, more) }));
      }
      setWaiting(buffer.current.length);
    };
    const timer = setInterval(flush, BATCH_MS);
    return () => clearInterval(timer);
  }, [isPaused]);

  const showOlder = (): void => setLoaded((before) => ({ ...before, requested: before.shown.cursor }));
  const older = shown.cursor === undefined ? undefined : showOlder;
  return { ...shown, page, error, retry, tail, waiting, older, isLoading: !isCurrent && !error };
}
