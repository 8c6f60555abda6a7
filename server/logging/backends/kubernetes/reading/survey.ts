// One pass over all chosen logs: what queries, statistics and histograms have in common.
import { BEGINNING, earlier } from '../../../instant.ts';
import type { Instant } from '../../../log-store.ts';
import { type LogSource, nameOf } from '../pods/log-source.ts';
import { reaches } from '../pods/source-selection.ts';
import { eachLog, type ReadingOptions } from './each-log.ts';
import { type Extent, type LogReader, newExtent, type OnLine, type ReadRequest } from './log-reader.ts';
import { missingBefore, needsFirstLine } from './retention.ts';

/** What one log has contributed; only taken into account when it was read, so that it can be read anew. */
export interface Tally {
  readonly onLine: OnLine;
  /** Where lines are no longer of interest to it. */
  readonly until?: () => Instant | undefined;
  done(): void;
  /** In place of done(): the log is not taken into account. */
  drop?(): void;
}

export interface SurveyOptions extends ReadingOptions {
  readonly beginOf: (namespace: string) => Instant;
  readonly end: Instant;
  /** Whether lines count that are no longer of interest otherwise. */
  readonly isCounting: boolean;
  readonly bytesPerContainer: number;
  /** Ends the reading when nobody wants the answer. */
  readonly signal: AbortSignal;
  /** `rank`: place of the source among the sources. */
  readonly tally: (source: LogSource, rank: number) => Tally;
}

/** Reads every log once. Throws LogFailure when none that was asked for could be read for a reason that is not theirs. */
export async function survey(options: SurveyOptions): Promise<void> {
  const { sources, deadline, signal, beginOf, shortfalls } = options;
  const done = await eachLog(
    options,
    (source, rank) => readOne(options, source, rank),
    (source) => reaches(source, beginOf(source.namespace)),
  );
  signal.throwIfAborted();
  if (deadline.aborted) shortfalls.timedOut(sources.length - done);
}

async function readOne(options: SurveyOptions, source: LogSource, rank: number): Promise<void> {
  const { reader, shortfalls, deadline, bytesPerContainer: limitBytes } = options;
  const begin = options.beginOf(source.namespace);
  const name = nameOf(source);
  let tally = options.tally(source, rank);
  const requestFor = (taking: Tally): ReadRequest => ({
    since: begin === BEGINNING ? undefined : begin,
    until: () => {
      const until = options.isCounting ? undefined : taking.until?.();
      return until === undefined ? options.end : earlier(until, options.end);
    },
    limitBytes,
    signal: deadline,
  });
  const extent = newExtent();
  try {
    await reader.read(source, requestFor(tally), tally.onLine, extent);
    if (extent.bytes >= limitBytes && !extent.hasPassed) {
      // What has come are the oldest lines. As many from the end take about as much room, and are worth more; but
      // where the time asked for ends long before the log does, there is none of them among these.
      const [oldest, newest, tail] = [tally, options.tally(source, rank), newExtent()];
      const tailLines = Math.max(1, Math.floor(extent.lines * TAIL_SHARE));
      const request = { ...requestFor(newest), limitBytes: limitBytes * 2, tailLines };
      try {
        await reader.read(source, request, newest.onLine, tail);
      } finally {
        const reached = tail.first !== undefined && tail.first < options.end;
        tally = reached ? newest : oldest;
        (reached ? oldest : newest).drop?.();
        shortfalls.tooLong(name, reached ? 'newest' : 'oldest');
      }
    } else {
      await checkRetention(options, { source, begin, name }, extent);
    }
  } finally {
    // Lines that have arrived are valid, whatever happened afterwards.
    tally.done();
    shortfalls.cutLines(extent.cutLines);
  }
}

const TAIL_SHARE = 0.9;
/** Enough for a time. */
const FIRST_LINE_BYTES = 64;

interface Begun {
  readonly source: LogSource;
  readonly begin: Instant;
  readonly name: string;
}

async function checkRetention(
  { reader, deadline, shortfalls }: SurveyOptions,
  { source, begin, name }: Begun,
  extent: Extent,
): Promise<void> {
  let kept = extent.first;
  if (needsFirstLine(source, begin, kept)) kept = await firstLineOf(reader, source, deadline);
  const missing = missingBefore(source, begin, kept);
  if (missing !== undefined) shortfalls.rotated(name, missing);
}

/** The time of the first line that the kubelet has; undefined when it has none. */
export async function firstLineOf(
  reader: LogReader,
  source: LogSource,
  signal: AbortSignal,
): Promise<Instant | undefined> {
  const request = { since: undefined, limitBytes: FIRST_LINE_BYTES, signal };
  // A line that is longer is cut by the limit, and still has its time.
  const extent = await reader.read(source, { ...request, headOnly: true }, () => undefined);
  return extent.first;
}

/** About the time of the last one: of a line that goes on and on, of its last piece. */
export async function lastLineOf(
  reader: LogReader,
  source: LogSource,
  signal: AbortSignal,
): Promise<Instant | undefined> {
  const request = { since: undefined, limitBytes: FIRST_LINE_BYTES, tailLines: 1, signal };
  const extent = await reader.read(source, { ...request, headOnly: true }, () => undefined);
  return extent.first;
}
