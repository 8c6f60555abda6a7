// New lines of a query while the view is live. They are passed on in batches; while the tail is paused, the newest ones
// wait.
import type { LogQuery, LogRecord } from 'ks-apiserver-client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { type Live, useLive } from '../ui/use-live.ts';
import { newestOf } from './line-limit.ts';

const BATCH_MS = 250;

export interface Tail extends Pick<Live<never>, 'connection' | 'error' | 'retry'> {
  /** Number of lines that wait for the end of a pause. */
  readonly waiting: number;
}

export interface TailOptions {
  /** Undefined: no tail. Another key is another tail. */
  readonly key: string | undefined;
  /** `start_time`: of the first line. */
  readonly query: LogQuery;
  readonly isPaused: boolean;
  /** Called with lines that can repeat shown ones. */
  readonly add: (lines: readonly LogRecord[]) => void;
}

export function useTail({ key, query, isPaused, add }: TailOptions): Tail {
  const { client } = useExplore();
  const buffer = useRef<LogRecord[]>([]);
  const [waiting, setWaiting] = useState(0);
  // oxlint-disable-next-line require-yield -- the buffer has the lines
  const { connection, error, retry } = useLive(async function* (options) {
    // All lines after the shown ones are read again.
    buffer.current = [];
    for await (const line of client.logs.tail(query, options)) buffer.current.push(line);
  }, key);
  useEffect(() => {
    const flush = (): void => {
      buffer.current = newestOf(buffer.current);
      if (!isPaused && buffer.current.length > 0) add(buffer.current.splice(0));
      setWaiting(buffer.current.length);
    };
    const timer = setInterval(flush, BATCH_MS);
    return () => clearInterval(timer);
  }, [isPaused]);
  return { waiting, connection, error, retry };
}
