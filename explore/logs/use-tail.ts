// New lines while the view is live. They are shown in batches; while it is paused, they wait. The number of lines in
// memory is bounded, and the stream closes while the page is hidden.
import { type Connection, type LogQuery, type LogRecord, StatusError } from 'ks-apiserver-client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useExplore } from '../context.ts';
import { useVisible } from '../ui/visible.ts';
import { charactersOf, excessOf, MAX_CHARACTERS, MAX_LINES } from './line-limit.ts';

const BATCH_MS = 250;
/** The rate is the mean of this many batches. */
const RATE_BATCHES = 20;

export interface Tail {
  /** Lines that wait for the end of a pause. */
  readonly waiting: number;
  /** Waiting lines that were dropped, because there were too many. */
  readonly dropped: number;
  /** Lines per second. */
  readonly rate: number;
  readonly connection: Connection | undefined;
  readonly error: Error | undefined;
  /** The tail has restarted with other permissions. */
  readonly hasNewScope: boolean;
}

/** Where a tail continues. */
export interface Resumption {
  /** Seconds since the epoch. */
  readonly since: number;
  readonly isShown: (id: string) => boolean;
}

export interface TailOptions {
  /** Undefined: no tail. Another key is another tail. */
  readonly key: string | undefined;
  readonly query: LogQuery;
  readonly isPaused: boolean;
  readonly resume: () => Resumption;
  readonly add: (lines: readonly LogRecord[]) => void;
}

const IDLE: Tail = {
  ...{ waiting: 0, dropped: 0, rate: 0 },
  ...{ connection: undefined, error: undefined, hasNewScope: false },
};

export function useTail({ key, query, isPaused, resume, add }: TailOptions): Tail {
  const { client, onConnection } = useExplore();
  const [tail, setTail] = useState(IDLE);
  const isVisible = useVisible();
  const waiting = useRef<LogRecord[]>([]);
  const paused = useRef(isPaused);
  const addLines = useRef(add);
  [paused.current, addLines.current] = [isPaused, add];
  useEffect(() => {
    setTail(IDLE);
    waiting.current = [];
  }, [key]);
  useEffect(() => {
    if (key === undefined || !isVisible) return undefined;
    const ended = new AbortController();
    const arrivals = [0];
    let dropped = 0;
    let characters = charactersOf(waiting.current);
    const update = (changes: Partial<Tail>): void => setTail((before) => ({ ...before, ...changes }));
    const read = async (): Promise<void> => {
      const { since, isShown } = resume();
      const held = new Set(waiting.current.map(({ id }) => id));
      const lines = client.logs.tail(
        { ...query, start_time: since, end_time: undefined, highlight: true, severity: true },
        {
          signal: ended.signal,
          onConnection: (connection) => {
            onConnection(connection);
            const isScope =
              connection.state === 'waiting' &&
              connection.error instanceof StatusError &&
              connection.error.reason === 'ScopeChanged';
            update({ connection, ...(isScope ? { hasNewScope: true } : {}) });
          },
        },
      );
      for await (const line of lines) {
        if (isShown(line.id) || held.has(line.id)) continue;
        waiting.current.push(line);
        arrivals[0] = (arrivals[0] ?? 0) + 1;
        characters += line.log.length;
        // In steps: to move all lines for each new one would take long.
        if (waiting.current.length > 1.1 * MAX_LINES || characters > 1.1 * MAX_CHARACTERS) {
          const excess = excessOf(waiting.current.map((each) => ({ lines: [each] })));
          characters -= charactersOf(waiting.current.splice(0, excess));
          dropped += paused.current ? excess : 0;
        }
      }
    };
    const flush = (): void => {
      if (!paused.current) {
        if (waiting.current.length > 0) addLines.current(waiting.current);
        waiting.current = [];
        characters = 0;
        dropped = 0;
      }
      const shown = { waiting: Math.min(waiting.current.length, MAX_LINES), dropped };
      const sum = arrivals.reduce((total, count) => total + count, 0);
      const rate = Math.round((sum * 10_000) / (arrivals.length * BATCH_MS)) / 10;
      arrivals.unshift(0);
      arrivals.length = Math.min(arrivals.length, RATE_BATCHES);
      setTail((before) => {
        const isSame = before.waiting === shown.waiting && before.dropped === dropped && before.rate === rate;
        return isSame ? before : { ...before, ...shown, rate };
      });
    };
    const timer = setInterval(flush, BATCH_MS);
    read().catch((error: Error) => {
      if (!ended.signal.aborted) update({ error });
    });
    return () => {
      clearInterval(timer);
      ended.abort();
      update({ connection: undefined });
    };
    // The key names the query.
  }, [key, isVisible]);
  return tail;
}
