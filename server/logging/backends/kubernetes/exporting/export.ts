// Exports: all lines in order, however many there are. A kubelet can only give a log from a certain second on, oldest
// lines first; and logs must not be held open at the pace of the reader, because slots are limited. So an export works in
// rounds: each reads a stretch of time of every log, keeps, packed, as many of the first lines in the order as fit into
// the memory, and gives back its slots. While one round is handed out, the next one is read.
import { Pacer } from '../../../../concurrency/pacer.ts';
import { BEGINNING, earlier, later } from '../../../instant.ts';
import type { Coverage, Instant, LogRecord, Order } from '../../../log-store.ts';
import { type LogSource, nameOf } from '../pods/log-source.ts';
import { reaches } from '../pods/source-selection.ts';
import { eachLog, type Reading } from '../reading/each-log.ts';
import { DISORDER_S, shifted } from '../reading/kubelet-time.ts';
import { whenPassed } from '../reading/line-filter.ts';
import { newExtent, type OnLine } from '../reading/line-reader.ts';
import { firstLineOf, lastLineOf } from '../reading/log-ends.ts';
import type { MemoryBudget } from '../reading/memory-budget.ts';
import { compareLines, recordOf } from '../reading/ranked-line.ts';
import { missingBefore } from '../reading/retention.ts';
import { RoundLines } from './round-lines.ts';
import { type Stretch, Stretches } from './stretch.ts';

export interface ExportOptions extends Reading {
  readonly order: Order;
  readonly memory: MemoryBudget;
}

/** Of the memory: the first round is small, so that the first lines come soon. */
const FIRST_SHARE = 1 / 64;
const GROWTH = 4;
/** Of the memory; as much is handed out meanwhile. */
const ROUND_SHARE = 1 / 4;
const MIN_ROOM = 64 << 10;
const BATCH_LINES = 250;
const BATCH_LENGTH = 1 << 20;

/** What one round has read. */
interface Round {
  readonly stretch: Stretch;
  readonly lines: RoundLines;
}

export class Export {
  readonly #options: ExportOptions;
  readonly #stop = new AbortController();
  readonly #pacer = new Pacer();
  /** The first line of each log that the kubelet still has; undefined when it has none. */
  #kept: (Instant | undefined)[] = [];
  /** Where the first stretch of time begins. */
  #earliest: Instant = BEGINNING;
  /** Lines of each log that were cut; rounds read some of them again. */
  readonly #cutLines: number[] = [];
  /** Rounds that are read or handed out. */
  readonly #held = new Set<RoundLines>();

  constructor(options: ExportOptions) {
    const { deadline } = options;
    this.#options = { ...options, deadline: AbortSignal.any([deadline, this.#stop.signal]) };
  }

  async *records(): AsyncGenerator<readonly LogRecord[], Coverage, undefined> {
    const { shortfalls, deadline, signal, order, sources, memory } = this.#options;
    try {
      this.#kept = await this.#timesOf(firstLineOf);
      this.#noteMissing();
      const whole = this.#whole();
      this.#earliest = whole.from;
      const stretches = new Stretches(order, whole);
      const last = order === 'desc' ? await this.#timesOf(lastLineOf) : [];
      let next = this.#newRound(memory.limit * FIRST_SHARE);
      let rounds = 0;
      let round = this.#begin(stretches.first(newest(last) ?? whole.to), next);
      while (round) {
        const { stretch, lines } = await round;
        rounds++;
        const { cut, bytes } = lines;
        next = this.#newRound(lines.memory * GROWTH);
        round = this.#begin(stretches.next(stretch, { cut, bytes, room: next.memory }), next);
        yield* this.#handOut(lines);
        this.#let(lines);
      }
      shortfalls.cutLines(this.#cutLines.reduce((sum, count) => sum + count, 0));
      if (rounds > 1) await this.#noteRotated();
    } catch (error) {
      signal.throwIfAborted();
      if (!deadline.aborted) throw error;
      shortfalls.timedOut(sources.length);
    } finally {
      this.#stop.abort();
      for (const lines of this.#held) this.#let(lines);
    }
    return { shortfalls: shortfalls.list() };
  }

  async *#handOut(lines: RoundLines): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { sources } = this.#options;
    let [batch, length]: [LogRecord[], number] = [[], 0];
    for (const line of lines.drain()) {
      batch.push(recordOf(line, sources));
      length += line.text.length;
      if (batch.length < BATCH_LINES && length < BATCH_LENGTH) continue;
      yield batch;
      [batch, length] = [[], 0];
      if (this.#pacer.spent) await this.#pacer.breathe();
    }
    if (batch.length > 0) yield batch;
  }

  /** `most`: bytes that it may take; less where the shared memory does not suffice. */
  #newRound(most: number): RoundLines {
    const { order, memory, sources } = this.#options;
    const bounded = Math.max(MIN_ROOM, Math.min(most, memory.limit * ROUND_SHARE));
    const lines = new RoundLines({ order, memory: memory.share(), most: bounded, logs: sources.length });
    this.#held.add(lines);
    return lines;
  }

  #let(lines: RoundLines): void {
    this.#held.delete(lines);
    lines.end();
  }

  #begin(stretch: Stretch | undefined, lines: RoundLines): Promise<Round> | undefined {
    if (!stretch || stretch.from >= stretch.to) return undefined;
    const round = this.#read(stretch, lines);
    // It may fail before it is awaited.
    round.catch(() => undefined);
    return round;
  }

  async #read(stretch: Stretch, lines: RoundLines): Promise<Round> {
    const { order, beginOf, filter, reader, deadline } = this.#options;
    const sign = order === 'asc' ? 1 : -1;
    const { to, begin: first } = stretch;
    // Oldest first, nothing behind a dropped line can get into this round any more.
    const until = (): Instant => (order === 'asc' && lines.cut ? lines.cut.time : to);
    const fromOf = ({ namespace }: LogSource): Instant => {
      const begin = beginOf(namespace);
      // Nothing is expected before the first line; but a clock may have been set back.
      return stretch.from <= this.#earliest ? begin : later(begin, stretch.from);
    };
    const isWanted = (source: LogSource, rank: number): boolean => {
      const kept = this.#kept[rank];
      return kept !== undefined && kept < shifted(to, DISORDER_S) && reaches(source, fromOf(source));
    };
    const work = async (source: LogSource, rank: number): Promise<void> => {
      const from = fromOf(source);
      const since = from === BEGINNING ? undefined : from;
      const extent = newExtent();
      try {
        const onLine: OnLine = (time, text, ordinal) => {
          if (time < from || time >= to) return;
          if (first && sign * compareLines({ time, rank, ordinal }, first) < 0) return;
          return whenPassed(filter(text), () => lines.offer(time, rank, ordinal, text));
        };
        const request = { since, until, signal: deadline, flush: () => lines.settle(rank) };
        await reader.read(source, request, onLine, extent);
      } finally {
        lines.close(rank);
        this.#cutLines[rank] = Math.max(this.#cutLines[rank] ?? 0, extent.cutLines);
      }
    };
    await eachLog(this.#options, work, isWanted);
    deadline.throwIfAborted();
    return { stretch, lines };
  }

  /** From the first line that there is to the end of the range. */
  #whole(): Stretch {
    const { sources, beginOf, end } = this.#options;
    const begins = sources.flatMap(({ namespace }, rank) => {
      const [kept, begin] = [this.#kept[rank], beginOf(namespace)];
      if (kept === undefined) return [];
      return later(shifted(kept, -DISORDER_S), begin);
    });
    return { from: begins.reduce(earlier, end), to: end };
  }

  async #timesOf(look: typeof firstLineOf): Promise<(Instant | undefined)[]> {
    const { reader, deadline, sources } = this.#options;
    const times = Array<Instant | undefined>(sources.length).fill(undefined);
    await eachLog(this.#options, async (source, rank) => {
      times[rank] = await look(reader, source, deadline);
    });
    deadline.throwIfAborted();
    return times;
  }

  #noteMissing(): void {
    const { sources, beginOf, shortfalls } = this.#options;
    for (const [rank, source] of sources.entries()) {
      const missing = missingBefore(source, beginOf(source.namespace), this.#kept[rank]);
      if (missing !== undefined) shortfalls.rotated(nameOf(source), missing);
    }
  }

  /** A log that now begins at another line has lost lines between the rounds, or belongs to another run. */
  async #noteRotated(): Promise<void> {
    const { sources, shortfalls } = this.#options;
    const now = await this.#timesOf(firstLineOf);
    for (const [rank, source] of sources.entries()) {
      const [before, after] = [this.#kept[rank], now[rank]];
      if (before !== undefined && before !== after) shortfalls.rotated(nameOf(source), after ?? before);
    }
  }
}

function newest(times: readonly (Instant | undefined)[]): Instant | undefined {
  return times.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined);
}
