// Exports: all lines in order, however many there are. A kubelet gives a log from a second on, oldest lines first, and
// nothing else; and logs must not be held open at the pace of who reads the export, because there are only so many
// slots. So it goes in rounds: each reads a stretch of time of every log, keeps as many of the first lines in the
// order as fit into the memory, and gives back its slots before it hands them out. Newest first works alike, a stretch
// at a time from the end; how long the next stretch is, is told from how many lines the last one had.
import { Pacer } from '../../../cluster/pacer.ts';
import { BEGINNING, earlier, instantOf, later, millisecondsOf } from '../../instant.ts';
import type { Coverage, Instant, LogRecord, Order } from '../../log-store.ts';
import { shifted } from './kubelet-time.ts';
import type { LineFilter } from './line-filter.ts';
import type { LogReader } from './log-reader.ts';
import { LogFailure, type LogFailureKind } from './log-request.ts';
import type { LogSource } from './log-source.ts';
import { compareLines, type Place, recordOf } from './ranked-line.ts';
import { missingBefore } from './retention.ts';
import type { Shortfalls } from './shortfalls.ts';
import { SortedRuns } from './sorted-runs.ts';
import { firstLineOf } from './survey.ts';

export interface ExportOptions {
  readonly reader: LogReader;
  readonly sources: readonly LogSource[];
  readonly beginOf: (namespace: string) => Instant;
  readonly end: Instant;
  readonly filter: LineFilter;
  /** Whether the filter may keep lines back. */
  readonly filtered: boolean;
  readonly order: Order;
  /** Bytes. */
  readonly memory: number;
  readonly parallel: number;
  /** The time is up: what was given is the export. */
  readonly deadline: AbortSignal;
  readonly signal: AbortSignal;
  readonly shortfalls: Shortfalls;
  readonly onFailure: (source: LogSource, kind: LogFailureKind, cause: unknown) => void;
}

/** The first rounds are small, so that the first lines come soon: of the memory, and for desc of the time. */
const FIRST_SHARE = 1 / 32;
const GROWTH = 4;
/** Of a stretch, after one with next to nothing in it. */
const MAX_GROWTH = 16;
/** Of the memory; what is handed out takes the rest. */
const ROUND_SHARE = 0.5;

interface Stretch {
  readonly from: Instant;
  readonly to: Instant;
}

const BATCH = 1_000;
/** Disorder that a log may have. */
const DISORDER_S = 2;
const MIN_STRETCH_MS = 1_000;
const MIN_ROOM = 64 << 10;

export class Export {
  readonly #options: ExportOptions;
  /** The first line that the kubelet has of each log; undefined when it has none. */
  #kept: (Instant | undefined)[] = [];
  #position: Place | undefined;
  #rounds = 0;
  /** Bytes of lines that this round may keep. */
  #room: number;
  readonly #pacer = new Pacer();

  constructor(options: ExportOptions) {
    this.#options = options;
    this.#room = Math.max(MIN_ROOM, options.memory * FIRST_SHARE);
  }

  async *records(): AsyncGenerator<readonly LogRecord[], Coverage, undefined> {
    const { shortfalls, deadline, signal, order, sources } = this.#options;
    try {
      this.#kept = await this.#firstLines();
      this.#noteMissing();
      const whole = this.#whole();
      let width = millisecondsOf(whole.to) - millisecondsOf(whole.from);
      let stretch: Stretch | undefined = whole;
      if (order === 'desc') {
        width = Math.max(MIN_STRETCH_MS, width * FIRST_SHARE);
        stretch = { from: later(whole.from, before(whole.to, width)), to: whole.to };
      }
      while (stretch && stretch.from < stretch.to) {
        const lines = await this.#read(stretch);
        const { cut, bytes } = lines;
        const [room, first] = [this.#room, this.#position];
        this.#room = Math.max(room, Math.min(this.#options.memory * ROUND_SHARE, room * GROWTH));
        yield* this.#handOut(lines);
        const span = cut ? this.#spanSince(first, stretch) : width;
        width = Math.max(MIN_STRETCH_MS, span * growth(bytes, this.#room));
        stretch = cut ? rest(stretch, this.#position, order, width) : following(stretch, whole, order, width);
      }
      if (this.#rounds > 1) await this.#noteRotated();
    } catch (error) {
      signal.throwIfAborted();
      if (!deadline.aborted) throw error;
      shortfalls.timedOut(sources.length);
    }
    return { shortfalls: shortfalls.list() };
  }

  async *#handOut(lines: SortedRuns): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { sources } = this.#options;
    let batch: LogRecord[] = [];
    for (const line of lines.drain()) {
      this.#position = { time: line.time, rank: line.rank, ordinal: line.ordinal };
      batch.push(recordOf(line, sources));
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
      if (this.#pacer.spent) await this.#pacer.breathe();
    }
    if (batch.length > 0) yield batch;
  }

  /** One round. */
  async #read(stretch: Stretch): Promise<SortedRuns> {
    const { order, beginOf, filter, filtered, reader, deadline } = this.#options;
    this.#rounds++;
    const lines = new SortedRuns({ order, memory: this.#room, copies: filtered });
    const sign = order === 'asc' ? 1 : -1;
    const position = this.#position;
    // Oldest first, nothing behind what was let go can come into this round any more.
    const until = (): Instant => (order === 'asc' && lines.cut ? lines.cut.time : stretch.to);
    await this.#each(async (source, rank) => {
      const kept = this.#kept[rank];
      if (kept === undefined || kept >= shifted(stretch.to, DISORDER_S)) return;
      const begin = beginOf(source.namespace);
      const from = begin > stretch.from ? begin : stretch.from;
      await reader.read(
        source,
        { since: from === BEGINNING ? undefined : from, until, signal: deadline },
        (time, text, ordinal) => {
          if (time < from || time >= stretch.to) return;
          if (position && sign * compareLines({ time, rank, ordinal }, position) <= 0) return;
          if (filter(text)) lines.offer(time, rank, ordinal, text);
        },
      );
    });
    return lines;
  }

  /** From the first line that there is to the end of the range. */
  #whole(): Stretch {
    const { sources, beginOf, end } = this.#options;
    const begins = sources.flatMap(({ namespace }, rank) => {
      const [kept, begin] = [this.#kept[rank], beginOf(namespace)];
      if (kept === undefined) return [];
      const early = shifted(kept, -DISORDER_S);
      return early > begin ? early : begin;
    });
    return { from: begins.reduce((a, b) => (a < b ? a : b), end), to: end };
  }

  async #firstLines(): Promise<(Instant | undefined)[]> {
    const { reader, deadline, sources } = this.#options;
    const kept = Array<Instant | undefined>(sources.length).fill(undefined);
    await this.#each(async (source, rank) => {
      kept[rank] = await firstLineOf(reader, source, deadline);
    });
    return kept;
  }

  #noteMissing(): void {
    const { sources, beginOf, shortfalls } = this.#options;
    for (const [rank, source] of sources.entries()) {
      const missing = missingBefore(source, beginOf(source.namespace), this.#kept[rank]);
      if (missing !== undefined) shortfalls.rotated(nameOf(source), missing);
    }
  }

  /** A log that begins elsewhere by now has lost lines between the rounds. */
  async #noteRotated(): Promise<void> {
    const { sources, shortfalls } = this.#options;
    const now = await this.#firstLines();
    for (const [rank, source] of sources.entries()) {
      const [before, after] = [this.#kept[rank], now[rank]];
      if (before !== undefined && before !== after) shortfalls.rotated(nameOf(source), after ?? before);
    }
  }

  /** Throws when no log can be read for a reason that is not theirs. */
  async #each(work: (source: LogSource, rank: number) => Promise<void>): Promise<void> {
    const { sources, parallel, deadline, shortfalls, onFailure } = this.#options;
    const queue = sources.entries();
    const failures: LogFailure[] = [];
    const worker = async (): Promise<void> => {
      for (const [rank, source] of queue) {
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
    if (failures[0] && failures.length === sources.length) throw failures[0];
  }

  /** Ms that lie between the line before a round, or the begin of its stretch, and its last line. */
  #spanSince(before: Place | undefined, { from, to }: Stretch): number {
    const last = millisecondsOf(this.#position?.time ?? from);
    const first = millisecondsOf(before?.time ?? (this.#options.order === 'asc' ? from : to));
    return Math.abs(last - first);
  }
}

/** How much longer the next stretch may be, to have three quarters of what there is room for. */
function growth(bytes: number, room: number): number {
  return Math.min(MAX_GROWTH, (0.75 * room) / Math.max(1, bytes));
}

/** What is left of a stretch behind `position`, at most `width` ms of it. */
function rest(stretch: Stretch, position: Place | undefined, order: Order, width: number): Stretch {
  if (!position) return stretch;
  const at = millisecondsOf(position.time);
  if (order === 'asc') return { from: position.time, to: earlier(stretch.to, instantOf(at + width + 1)) };
  const to = earlier(stretch.to, instantOf(at + 1));
  return { from: later(stretch.from, before(position.time, width)), to };
}

/** The stretch behind one that is done; undefined when there is none. */
function following(done: Stretch, whole: Stretch, order: Order, width: number): Stretch | undefined {
  if (order === 'asc') {
    if (done.to >= whole.to) return undefined;
    return { from: done.to, to: earlier(whole.to, instantOf(millisecondsOf(done.to) + width + 1)) };
  }
  if (done.from <= whole.from) return undefined;
  return {
    from: later(whole.from, instantOf(Math.max(0, millisecondsOf(done.from) - width))),
    to: done.from,
  };
}

function before(instant: Instant, ms: number): Instant {
  return instantOf(Math.max(0, Math.floor(millisecondsOf(instant) - ms)));
}

function nameOf({ namespace, pod, container }: LogSource): string {
  return `${namespace}/${pod}/${container}`;
}
