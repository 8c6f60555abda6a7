import type { Instant } from '../../../log-store.ts';
import { type LogSource, nameOf } from '../pods/log-source.ts';
import type { LineFilter } from './line-filter.ts';
import type { LogReader } from './log-reader.ts';
import { LogFailure, type LogFailureKind } from './log-request.ts';
import { readingOrder } from './reading-order.ts';
import type { Shortfalls } from './shortfalls.ts';

/** The logs that a question is about, which of their lines it asks for, and what the reading has to keep to. */
export interface Reading {
  readonly reader: LogReader;
  /** In their order. */
  readonly sources: readonly LogSource[];
  /** The first instant of which a namespace's lines count. */
  readonly beginOf: (namespace: string) => Instant;
  /** Of the range, exclusive. */
  readonly end: Instant;
  readonly filter: LineFilter;
  /** How many are read at a time. */
  readonly parallel: number;
  /** The time is up: what was found counts. */
  readonly deadline: AbortSignal;
  /** Nobody wants the answer any more; then the time is up too. */
  readonly signal: AbortSignal;
  readonly shortfalls: Shortfalls;
  /** Hears why a log could not be read. */
  readonly onFailure: (source: LogSource, kind: LogFailureKind, cause: unknown) => void;
}

/**
 * Works on all logs, or until the time is up; resolves with how many it is through with. What cannot be read of them is a
 * shortfall. Throws when none that is asked for can be read for a reason that is not theirs. `isWanted`: logs that need
 * not be asked for are passed over.
 */
export async function eachLog(
  { sources, parallel, deadline, shortfalls, onFailure }: Reading,
  work: (source: LogSource, rank: number) => Promise<void>,
  isWanted: (source: LogSource, rank: number) => boolean = () => true,
): Promise<number> {
  const queue = readingOrder(sources);
  const failures: LogFailure[] = [];
  let [asked, done] = [0, 0];
  const failed = (source: LogSource, failure: LogFailure): void => {
    if (failure.kind === 'empty') return;
    onFailure(source, failure.kind, failure.cause);
    if (failure.kind === 'gone') shortfalls.gone(nameOf(source));
    else shortfalls.failed(nameOf(source));
    if (failure.kind === 'unreachable' || failure.kind === 'refused') failures.push(failure);
  };
  const worker = async (): Promise<void> => {
    for (const [rank, source] of queue) {
      if (isWanted(source, rank)) {
        asked++;
        try {
          await work(source, rank);
        } catch (error) {
          if (deadline.aborted) return;
          if (!(error instanceof LogFailure)) throw error;
          failed(source, error);
        }
      }
      done++;
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, sources.length) }, worker));
  if (failures[0] && failures.length === asked) throw failures[0];
  return done;
}
