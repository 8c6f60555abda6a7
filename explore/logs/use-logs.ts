// The lines of a query: the newest page first, older ones on demand, and new ones while the view is live.
import type { LogPage, LogQuery, LogRecord, StreamOptions } from 'ks-apiserver-client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { type Live, useLive, useLoaded } from '../ui/use-live.ts';
import { isFull, newestOf } from './line-limit.ts';
import type { TimeRange } from './log-query.ts';

const PAGE = 200;
/** A tail begins with the last seconds that are shown, because lines arrive late. */
const OVERLAP_S = 5;
/** Time in ms in which the new lines of a tail are collected. */
const BATCH_MS = 250;

interface Lines {
  /** Of the query. */
  readonly key: string;
  /** The oldest line first. */
  readonly lines: readonly LogRecord[];
  /** The page that was read last. */
  readonly page?: LogPage | undefined;
  /** Of the next older page; undefined if there is none, or if it does not fit. */
  readonly cursor?: string | undefined;
  /** There are older lines, and they do not fit. */
  readonly isCut?: boolean | undefined;
  /** Of the page that the user has requested last; undefined for the newest one. */
  readonly requested?: string | undefined;
}

export interface Logs extends Pick<Lines, 'lines' | 'page' | 'isCut'> {
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

const NONE: Lines = { key: '', lines: [] };

export function useLogs({ query, range: { start, end }, key, isLive, isPaused }: LogsOptions): Logs {
  const { client } = useExplore();
  const [loaded, setLoaded] = useState(NONE);
  const isSame = loaded.key === key;
  const cursor = isSame ? loaded.requested : undefined;
  const sent = { ...query, start_time: start, end_time: end, highlight: true, severity: true };
  const load = async (signal: AbortSignal): Promise<void> => {
    const page = await client.logs.query({ ...sent, size: PAGE, cursor }, { signal });
    setLoaded((before) => withOlderLines(cursor === undefined ? { key, lines: [] } : before, page));
  };
  const { isCurrent, error, retry } = useLoaded(load, [key, cursor]);
  const { lines, page, cursor: next, isCut } = isSame || !error ? loaded : NONE;

  const last = lines.at(-1);
  const since = Math.max(end, last ? Math.floor(Date.parse(last.time) / 1000) : 0) - OVERLAP_S;
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
      buffer.current = newestOf(buffer.current);
      if (!isPaused && buffer.current.length > 0) {
        const more = buffer.current.splice(0);
        setLoaded((before) => withNewLines(before, more));
      }
      setWaiting(buffer.current.length);
    };
    const timer = setInterval(flush, BATCH_MS);
    return () => clearInterval(timer);
  }, [isPaused]);

  const showOlder = (): void => setLoaded((before) => ({ ...before, requested: before.cursor }));
  const older = next === undefined ? undefined : showOlder;
  return { lines, page, isCut, error, retry, tail, waiting, older, isLoading: !isCurrent && !error };
}

/** Adds the lines of the next older page, the last one when the maximum is reached. */
function withOlderLines(before: Lines, page: LogPage): Lines {
  const lines = [...page.records.toReversed(), ...before.lines];
  const isLast = isFull(lines);
  const cursor = isLast ? undefined : page.cursor;
  return { ...before, page, lines, cursor, isCut: isLast && page.cursor !== undefined };
}

/** Appends the lines that are not shown yet, which a tail can repeat, and drops the oldest ones beyond the limit. */
function withNewLines(before: Lines, more: readonly LogRecord[]): Lines {
  const known = new Set(before.lines.map(({ id }) => id));
  const all = [...before.lines, ...more.filter(({ id }) => !known.has(id))];
  const lines = newestOf(all);
  // Older pages would then leave a gap.
  return lines.length < all.length
    ? { ...before, lines, cursor: undefined, isCut: true }
    : { ...before, lines };
}
