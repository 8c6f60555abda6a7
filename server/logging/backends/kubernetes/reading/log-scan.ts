// Reads the selected logs, in full or by windows of time, and reports what is missing. All operations but live tails
// read with it.
import { BEGINNING, earlier, instantOf, later } from '../../../instant.ts';
import type { Instant, Total } from '../../../log-store.ts';
import { type ContainerLog, isReplaced, mayReach } from '../pods/container-log.ts';
import type { PodIndex } from '../pods/pod-index.ts';
import { DISORDER_S, shifted } from './kubelet-time.ts';
import { ifAccepted, type LineFilter } from './line-filter.ts';
import { newExtent, type OnLine } from './line-reader.ts';
import type { LogReader } from './log-reader.ts';
import { type LogErrorKind, LogReadError } from './log-request.ts';
import type { Shortfalls } from './shortfalls.ts';

export interface LogScanOptions {
  readonly reader: LogReader;
  readonly pods: Pick<PodIndex, 'get'>;
  /** Sorted; a rank is an index of this list. */
  readonly logs: readonly ContainerLog[];
  /** Start of the time range, by namespace. */
  readonly beginOf: (namespace: string) => Instant;
  /** End of the time range, exclusive. */
  readonly end: Instant;
  readonly filter: LineFilter;
  /** Maximum number of logs that are read at the same time. */
  readonly concurrency: number;
  /** Bytes of a log that are read from its start, and again from its end; undefined for all. */
  readonly bytesPerLog: number | undefined;
  /** Aborted when the time limit ends: the lines that were found are valid. */
  readonly deadline: AbortSignal;
  /** Aborted when the caller leaves; then `deadline` is aborted too. */
  readonly signal: AbortSignal;
  readonly shortfalls: Shortfalls;
  readonly onFailure: (log: ContainerLog, kind: LogErrorKind, cause: unknown) => void;
}

export interface Window {
  readonly from: Instant;
  /** Exclusive. */
  readonly to: Instant;
}

/** Takes the lines of one log that are in the time range and that the filter accepts. */
export interface LineSink {
  readonly onLine: (...line: Parameters<OnLine>) => void;
  /** Called after the lines of each chunk, before their memory is reused, and at the end. */
  readonly flush?: () => void;
  /** Lines of this time and later ones are not wanted. */
  readonly until?: () => Instant | undefined;
}

export type SinkFor = (log: ContainerLog, rank: number) => LineSink;

/** Share of the lines before a cut that is read from the end: about as many bytes. */
const TAIL_SHARE = 0.9;
/** A container may write its first line this much later than it starts. */
const QUIET_START_S = 60;
/** A gap too small to request the first line of the log. */
const SMALL_GAP_S = 1;

export class LogScan {
  readonly #options: LogScanOptions;
  /** Times of the first lines that are known, by log; undefined for an empty log. */
  readonly #firstLines = new Map<ContainerLog, Instant | undefined>();

  constructor(options: LogScanOptions) {
    this.#options = options;
  }

  get logs(): readonly ContainerLog[] {
    return this.#options.logs;
  }

  get shortfalls(): Shortfalls {
    return this.#options.shortfalls;
  }

  /** Whether the time limit has ended. */
  get isOver(): boolean {
    return this.#options.deadline.aborted;
  }

  /** Whether nothing is missing so far. */
  get isComplete(): boolean {
    return this.shortfalls.list().length === 0;
  }

  /** A lower bound if something is missing. */
  total(count: number): Total {
    return { count, relation: this.isComplete ? 'eq' : 'gte' };
  }

  /** Reads all lines of the time range. Throws LogReadError if no log can be read. */
  async readAll(sinkFor: SinkFor): Promise<void> {
    await this.readWindow({ from: BEGINNING, to: this.#options.end }, sinkFor);
  }

  /** Reads the lines of a window. Throws LogReadError if no log can be read. */
  async readWindow({ from, to }: Window, sinkFor: SinkFor): Promise<void> {
    const { beginOf } = this.#options;
    const beginIn = ({ namespace }: ContainerLog): Instant => later(beginOf(namespace), from);
    await this.#each(
      (log, rank) => this.#readLog(log, { from: beginIn(log), to }, sinkFor(log, rank)),
      (log) => mayReach(log, beginIn(log)),
    );
  }

  /** Finds the times of the first or the last lines, by rank; undefined for an empty log. */
  async timesOf(which: 'first' | 'last'): Promise<(Instant | undefined)[]> {
    const { reader, logs, deadline } = this.#options;
    const times = Array<Instant | undefined>(logs.length).fill(undefined);
    await this.#each(async (log, rank) => {
      times[rank] = await reader.timeOf(which, log, deadline);
      if (which === 'first' && !this.#firstLines.has(log)) this.#firstLines.set(log, times[rank]);
    });
    return times;
  }

  /** Reports that the kubelet has deleted the lines from before `first`. */
  addRotated(log: ContainerLog, first: Instant): void {
    const what = 'rotated, and start at the time in parentheses';
    this.shortfalls.addLog('NotCovered', what, log, ` (${first})`);
  }

  #startsAfter(log: ContainerLog, end: Instant): boolean {
    if (!this.#firstLines.has(log)) return false;
    const first = this.#firstLines.get(log);
    return first === undefined || first >= shifted(end, DISORDER_S);
  }

  async #readLog(log: ContainerLog, window: Window, sink: LineSink): Promise<void> {
    const { reader, filter, shortfalls, deadline: signal, bytesPerLog: limitBytes } = this.#options;
    const { from, to } = window;
    if (this.#startsAfter(log, to)) return this.#checkRotation(log, from, undefined);
    const until = (): Instant => earlier(sink.until?.() ?? to, to);
    const since = from === BEGINNING ? undefined : from;
    const onLine: OnLine = (time, text, ordinal) => {
      if (time < from || time >= to) return;
      return ifAccepted(filter(text), () => sink.onLine(time, text, ordinal));
    };
    const flush = (): void => sink.flush?.();
    const [extent, tail] = [newExtent(), newExtent()];
    try {
      await reader.read(log, { since, until, limitBytes, signal, flush }, onLine, extent);
      const isCut = limitBytes !== undefined && extent.bytes >= limitBytes && !extent.hasPassed;
      if (!isCut) return await this.#checkRotation(log, from, extent.first);
      shortfalls.addLog('Limit', 'too long: only the oldest and the newest lines were read', log);
      const { last } = extent;
      const tailLines = Math.max(1, Math.floor(extent.lines * TAIL_SHARE));
      const newer: OnLine = (...line) => (line[0] > last ? onLine(...line) : undefined);
      await reader.read(log, { since, until, limitBytes: limitBytes * 2, tailLines, signal }, newer, tail);
    } finally {
      flush();
      if (extent.truncated || tail.truncated)
        shortfalls.add('Limit', 'lines longer than 1 MiB were truncated');
    }
  }

  /** A kubelet does not report that it deleted a rotated file. The time of the first line shows it. */
  async #checkRotation(log: ContainerLog, begin: Instant, first: Instant | undefined): Promise<void> {
    const { reader, deadline } = this.#options;
    const { startedAt } = log.run;
    if (startedAt === undefined) return;
    const started = instantOf(Math.max(0, startedAt));
    const isGap = (kept: Instant | undefined): boolean =>
      kept === undefined || kept > shifted(begin, SMALL_GAP_S);
    let kept = first;
    if (started < begin && isGap(first)) {
      if (!this.#firstLines.has(log)) this.#firstLines.set(log, await reader.timeOf('first', log, deadline));
      kept = this.#firstLines.get(log);
    }
    if (log.predecessors && started > begin) this.addRotated(log, started);
    else if (kept !== undefined && isGap(kept) && kept > shifted(started, QUIET_START_S))
      this.addRotated(log, kept);
  }

  /** Works on all logs, or until the time limit ends. */
  async #each(
    work: (log: ContainerLog, rank: number) => Promise<void>,
    isWanted: (log: ContainerLog) => boolean = () => true,
  ): Promise<void> {
    const { logs, pods, concurrency, deadline, signal, shortfalls } = this.#options;
    const queue = byNodeInTurn(logs);
    const failures: LogReadError[] = [];
    let [started, done] = [0, 0];
    const worker = async (): Promise<void> => {
      for (const [rank, log] of queue) {
        if (isWanted(log)) {
          started++;
          try {
            await work(log, rank);
          } catch (error) {
            if (deadline.aborted) return;
            if (!(error instanceof LogReadError)) throw error;
            if (this.#noteFailure(log, error)) failures.push(error);
          }
        }
        done++;
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, logs.length) }, worker));
    signal.throwIfAborted();
    if (failures[0] && failures.length === started) throw failures[0];
    if (deadline.aborted) shortfalls.timedOut(logs.length - done);
    const restarted = 'possibly not read to the end, because the container restarted';
    for (const log of logs) if (isReplaced(log, pods)) shortfalls.addLog('NotCovered', restarted, log);
  }

  /** Whether the cause can affect all logs. */
  #noteFailure(log: ContainerLog, { kind, cause }: LogReadError): boolean {
    const { shortfalls, onFailure } = this.#options;
    if (kind === 'empty') return false;
    onFailure(log, kind, cause);
    const isGone = kind === 'gone';
    const why = isGone ? 'the pod or its log was deleted' : 'the kubelet did not respond correctly';
    shortfalls.addLog('NotCovered', `not read to the end, because ${why}`, log);
    return kind === 'unreachable' || kind === 'forbidden';
  }
}

/**
 * Logs with their ranks, one of each node in turn: no kubelet gets all requests at once, and a slow one delays only a few
 * of the logs that are read at the same time.
 */
function* byNodeInTurn(logs: readonly ContainerLog[]): Generator<[rank: number, log: ContainerLog]> {
  const byNode = Map.groupBy(logs.entries(), ([, { node }]) => node);
  const queues = [...byNode.values()].map((entries) => entries.values());
  while (queues.length > 0) {
    for (const [index, queue] of [...queues.entries()].toReversed()) {
      const next = queue.next();
      if (next.done) queues.splice(index, 1);
      else yield next.value;
    }
  }
}
