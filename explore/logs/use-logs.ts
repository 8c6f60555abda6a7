// The lines and the histogram of a query: the newest page first, and older ones on demand. A changed query cancels the
// requests of the earlier one.
import {
  type LogHistogram,
  type LogPage,
  type LogQuery,
  type LogRecord,
  StatusError,
} from 'ks-apiserver-client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { type Loaded as LoadedValue, useLoaded } from '../ui/use-live.ts';
import { excessOf } from './line-limit.ts';
import { intervalOf, type TimeRange } from './log-query.ts';
import type { Resumption } from './use-tail.ts';

const PAGE = 200;
/** A tail begins with the last seconds that are shown, because lines arrive late. */
const OVERLAP_S = 5;

/** Neighbouring lines, which are rendered together. */
export interface Block {
  readonly key: number;
  readonly lines: readonly LogRecord[];
}

export interface Loaded {
  /** The oldest line first. */
  readonly blocks: readonly Block[];
  /** The page that was read last. */
  readonly page: LogPage | undefined;
  readonly isLoading: boolean;
  /** Whether the lines are those of the query, and not of an earlier one. */
  readonly isReady: boolean;
  readonly error: Error | undefined;
  readonly older: () => void;
  /** Where a live tail continues after the shown lines. */
  readonly resume: () => Resumption;
  /** Appends lines of a live tail. */
  readonly add: (lines: readonly LogRecord[]) => void;
}

interface Lines {
  readonly blocks: readonly Block[];
  readonly page: LogPage | undefined;
  /** Of the query. */
  readonly key: string | undefined;
}

const NONE: Lines = { blocks: [], page: undefined, key: undefined };
const BLOCK = 50;
let nextKey = 0;

function blocksOf(lines: readonly LogRecord[]): Block[] {
  return Array.from({ length: Math.ceil(lines.length / BLOCK) }, (_, index) => ({
    key: nextKey++,
    lines: lines.slice(index * BLOCK, (index + 1) * BLOCK),
  }));
}

/** Appends lines, and drops the oldest blocks beyond the limit; older pages would then leave a gap. */
function appended({ blocks, page, key }: Lines, more: readonly LogRecord[]): Lines {
  const last = blocks.at(-1);
  const room = last ? Math.max(0, BLOCK - last.lines.length) : 0;
  const filled = last && room > 0 ? [{ key: last.key, lines: [...last.lines, ...more.slice(0, room)] }] : [];
  const all = [...(room > 0 ? blocks.slice(0, -1) : blocks), ...filled, ...blocksOf(more.slice(room))];
  all.splice(0, excessOf(all));
  const isWhole = all[0]?.key === blocks[0]?.key;
  if (isWhole || !page) return { blocks: all, page, key };
  const { cursor: _cursor, ...rest } = page;
  return { blocks: all, page: rest, key };
}

/** `key`: changes when the query must be sent again. */
export function useLogs(query: LogQuery, { start, end }: TimeRange, key: string): Loaded {
  const { client } = useExplore();
  const [{ blocks, page, key: shownKey }, setLines] = useState(NONE);
  const [isLoading, setLoading] = useState(true);
  const [error, setError] = useState<Error>();
  const ended = useRef(new AbortController());
  const load = (before: LogPage | undefined): void => {
    const { signal } = ended.current;
    setLoading(true);
    const sent = { ...query, start_time: start, end_time: end, size: PAGE, highlight: true, severity: true };
    client.logs.query({ ...sent, cursor: before?.cursor }, { signal }).then(
      (next) => {
        if (signal.aborted) return;
        const read = blocksOf(next.records.toReversed());
        setLines((known) => ({ blocks: before ? [...read, ...known.blocks] : read, page: next, key }));
        setError(undefined);
        setLoading(false);
      },
      (cause: Error) => {
        if (signal.aborted) return;
        if (!before) setLines(NONE);
        setError(cause);
        setLoading(false);
      },
    );
  };
  useEffect(() => {
    ended.current = new AbortController();
    load(undefined);
    return () => ended.current.abort();
  }, [key]);
  const older = useCallback((): void => {
    if (!isLoading && page?.cursor !== undefined) load(page);
  }, [isLoading, page]);
  const add = useCallback((more: readonly LogRecord[]): void => {
    setLines((known) => appended(known, more));
  }, []);
  const shown = useRef(blocks);
  shown.current = blocks;
  const resume = (): Resumption => {
    const lines = shown.current.flatMap((block) => block.lines);
    const last = lines.at(-1);
    const since = last ? Math.max(end, Math.floor(Date.parse(last.time) / 1000)) : end;
    const ids = new Set(lines.map(({ id }) => id));
    return { since: since - OVERLAP_S, isShown: (id) => ids.has(id) };
  };
  return { resume, blocks, page, isLoading, isReady: shownKey === key, error, older, add };
}

/** Interval of a new histogram while the view is live, in ms. */
const REFRESH_MS = 15_000;

/** Counts of all levels: the levels of the query are only shown or hidden. */
export function useHistogram(
  { level: _level, ...query }: LogQuery,
  rangeNow: () => TimeRange,
  key: string,
  isLive: boolean,
): LoadedValue<{ readonly histogram: LogHistogram; readonly range: TimeRange }> {
  const { client } = useExplore();
  const { timeZone: time_zone } = Intl.DateTimeFormat().resolvedOptions();
  const load = async (signal: AbortSignal) => {
    const range = rangeNow();
    const times = { start_time: range.start, end_time: range.end, interval: intervalOf(range).interval };
    const sent = { ...query, ...times, time_zone };
    const histogram = await client.logs
      .histogram({ ...sent, severity: true }, { signal })
      .catch((error: unknown) => {
        // A store whose fields cannot be searched for levels still counts lines.
        const isLevel =
          error instanceof StatusError && error.causes.some(({ field }) => field === 'severity');
        if (!isLevel) throw error;
        return client.logs.histogram(sent, { signal });
      });
    return { histogram, range };
  };
  return useLoaded(load, [key], isLive ? REFRESH_MS : 0);
}
