import { type LogSource, nameOf } from '../pods/log-source.ts';
import type { LogReader } from './log-reader.ts';
import { LogFailure, type LogFailureKind } from './log-request.ts';
import { readingOrder } from './reading-order.ts';
import type { Shortfalls } from './shortfalls.ts';

export interface ReadingOptions {
  readonly reader: LogReader;
  /** In their order. */
  readonly sources: readonly LogSource[];
  /** How many are read at a time. */
  readonly parallel: number;
  /** The time is up: what was found counts. */
  readonly deadline: AbortSignal;
  readonly shortfalls: Shortfalls;
  /** Hears why a log could not be read. */
  readonly onFailure: (source: LogSource, kind: LogFailureKind, cause: unknown) => void;
}

/**
 * Works on all logs; what cannot be read of them is a shortfall. Throws when none that is asked for can be read for a
 * reason that is not theirs, and when the time is up. `isWanted`: logs that need not be asked for are passed over.
 */
export async function eachLog(
  { sources, parallel, deadline, shortfalls, onFailure }: ReadingOptions,
  work: (source: LogSource, rank: number) => Promise<void>,
  isWanted: (source: LogSource, rank: number) => boolean = () => true,
): Promise<void> {
  const queue = readingOrder(sources);
  const failures: LogFailure[] = [];
  let asked = 0;
  const worker = async (): Promise<void> => {
    for (const [rank, source] of queue) {
      if (!isWanted(source, rank)) continue;
      asked++;
      try {
        await work(source, rank);
      } catch (error) {
        if (deadline.aborted || !(error instanceof LogFailure)) throw error;
        if (error.kind === 'empty') continue;
        onFailure(source, error.kind, error.cause);
        if (error.kind === 'gone') shortfalls.gone(nameOf(source));
        else shortfalls.failed(nameOf(source));
        if (error.kind === 'unreachable' || error.kind === 'refused') failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, sources.length) }, worker));
  if (failures[0] && failures.length === asked) throw failures[0];
}
