// The logs of one question, read as a whole or by windows of time: what queries, statistics and histograms have in common.
import { BEGINNING, earlier, later } from '../../../instant.ts';
import type { Instant, Total } from '../../../log-store.ts';
import { type LogSource, nameOf } from '../pods/log-source.ts';
import type { PodIndex } from '../pods/pod-index.ts';
import { isReplaced, reaches } from '../pods/source-selection.ts';
import { eachLog, type Reading } from './each-log.ts';
import { whenPassed } from './line-filter.ts';
import { type Extent, newExtent, type OnLine } from './line-reader.ts';
import { firstLineOf } from './log-ends.ts';
import type { ReadRequest } from './log-reader.ts';
import { missingBefore, needsFirstLine } from './retention.ts';
import type { Shortfalls } from './shortfalls.ts';

/** What one log has contributed; only taken into account when it was read, so that it can be read anew. */
export interface Tally {
  /** Hears of the lines that lie in the range and say what was asked for. */
  readonly onLine: (...line: Parameters<OnLine>) => void;
  /** Where lines are no longer of interest to it. */
  readonly until?: () => Instant | undefined;
  done(): void;
  /** In place of done(): the log is not taken into account. */
  drop?(): void;
}

/** `rank`: place of the source among the sources. */
export type TallyFor = (source: LogSource, rank: number) => Tally;

export interface PassOptions extends Reading {
  readonly pods: Pick<PodIndex, 'get'>;
  readonly bytesPerContainer: number;
}

export interface Window {
  readonly from: Instant;
  /** Exclusive. */
  readonly to: Instant;
}

/** What is read at a time. */
interface Part {
  readonly beginOf: (namespace: string) => Instant;
  readonly end: Instant;
  /** Whether lines count that are no longer of interest otherwise. */
  readonly isCounting: boolean;
  readonly tallyFor: TallyFor;
}

const TAIL_SHARE = 0.9;

export class Pass {
  readonly #options: PassOptions;

  constructor(options: PassOptions) {
    this.#options = options;
  }

  get sources(): readonly LogSource[] {
    return this.#options.sources;
  }

  get shortfalls(): Shortfalls {
    return this.#options.shortfalls;
  }

  /** Whether the time is up. */
  get isOver(): boolean {
    return this.#options.deadline.aborted;
  }

  /** Every line of the selection. Throws as eachLog() does. */
  async readAll(tallyFor: TallyFor): Promise<void> {
    const { beginOf, end } = this.#options;
    await this.#read({ beginOf, end, isCounting: true, tallyFor });
  }

  /** The lines of a window that the tallies still take. Throws as eachLog() does. */
  async readWindow({ from, to }: Window, tallyFor: TallyFor): Promise<void> {
    const beginOf = (namespace: string): Instant => later(this.#options.beginOf(namespace), from);
    await this.#read({ beginOf, end: to, isCounting: false, tallyFor });
  }

  /** What is not covered might hold more lines. */
  total(count: number): Total {
    return { count, relation: this.relation };
  }

  get relation(): Total['relation'] {
    return this.shortfalls.list().length > 0 ? 'gte' : 'eq';
  }

  async #read(part: Part): Promise<void> {
    const { sources, pods, signal, shortfalls } = this.#options;
    const done = await eachLog(
      this.#options,
      (source, rank) => this.#readLog(part, source, rank),
      (source) => reaches(source, part.beginOf(source.namespace)),
    );
    signal.throwIfAborted();
    if (this.isOver) shortfalls.timedOut(sources.length - done);
    for (const source of sources) if (isReplaced(source, pods)) shortfalls.restarted(nameOf(source));
  }

  async #readLog(part: Part, source: LogSource, rank: number): Promise<void> {
    const { reader, filter, shortfalls, deadline, bytesPerContainer: limitBytes } = this.#options;
    const { end, isCounting, tallyFor } = part;
    const begin = part.beginOf(source.namespace);
    const request: ReadRequest = {
      since: begin === BEGINNING ? undefined : begin,
      limitBytes,
      signal: deadline,
    };
    const read = (tally: Tally, more: Partial<ReadRequest>, extent: Extent): Promise<Extent> => {
      const until = (): Instant => earlier((isCounting ? undefined : tally.until?.()) ?? end, end);
      const onLine: OnLine = (time, text, ordinal) => {
        if (time < begin || time >= end) return;
        return whenPassed(filter(text), () => tally.onLine(time, text, ordinal));
      };
      return reader.read(source, { ...request, ...more, until }, onLine, extent);
    };
    let [tally, extent] = [tallyFor(source, rank), newExtent()];
    try {
      await read(tally, {}, extent);
      if (extent.bytes >= limitBytes && !extent.hasPassed) {
        // What has come are the oldest lines. As many from the end take about as much room, and are worth more; but
        // where the time asked for ends long before the log does, there is none of them among these.
        const [oldest, newest] = [tally, tallyFor(source, rank)];
        const tail = newExtent();
        const tailLines = Math.max(1, Math.floor(extent.lines * TAIL_SHARE));
        try {
          await read(newest, { limitBytes: limitBytes * 2, tailLines }, tail);
        } finally {
          const reached = tail.first !== undefined && tail.first < end;
          if (reached) [tally, extent] = [newest, tail];
          (reached ? oldest : newest).drop?.();
          shortfalls.tooLong(nameOf(source), reached ? 'newest' : 'oldest');
        }
      } else {
        await this.#checkRetention(source, begin, extent);
      }
    } finally {
      // Lines that have arrived are valid, whatever happened afterwards.
      tally.done();
      shortfalls.cutLines(extent.cutLines);
    }
  }

  async #checkRetention(source: LogSource, begin: Instant, { first }: Extent): Promise<void> {
    const { reader, deadline, shortfalls } = this.#options;
    const kept = needsFirstLine(source, begin, first) ? await firstLineOf(reader, source, deadline) : first;
    const missing = missingBefore(source, begin, kept);
    if (missing !== undefined) shortfalls.rotated(nameOf(source), missing);
  }
}
