// Reads the lines of all selected container logs within a time range. The scan reports each log that is not read
// completely.
import { BEGINNING, earlier, instantOf, later } from '../../instant.ts';
import type { Instant, Total } from '../../log-store.ts';
import { type ContainerLog, isReplaced, mayReach } from './container-log.ts';
import { DISORDER_S, shifted } from './kubelet-time.ts';
import type { LineFilter } from './line-filter.ts';
import { newExtent, type OnLine } from './line-reader.ts';
import type { LogReader } from './log-reader.ts';
import { type LogErrorKind, LogReadError } from './log-request.ts';
import type { PodIndex } from './pod-index.ts';
import type { Shortfalls } from './shortfalls.ts';

export interface LogScanOptions {
  readonly reader: LogReader;
  readonly pods: Pick<PodIndex, 'get'>;
  /** The selected logs, sorted. The rank of a log is its index in this list. */
  readonly logs: readonly ContainerLog[];
  /** Start of the time range in a namespace, inclusive. */
  readonly beginOf: (namespace: string) => Instant;
  /** End of the time range, exclusive. */
  readonly end: Instant;
  readonly filter: LineFilter;
  /** Maximum number of logs that are read at the same time. */
  readonly concurrency: number;
  /** Maximum bytes that are read from the start of a log, and about as many from its end; undefined: no maximum. */
  readonly bytesPerLog: number | undefined;
  /** Aborted at the time limit. The lines that were read before remain valid. */
  readonly deadline: AbortSignal;
  /** Aborted when the caller disconnects; `deadline` is then aborted, too. */
  readonly signal: AbortSignal;
  readonly shortfalls: Shortfalls;
  readonly onFailure: (log: ContainerLog, kind: LogErrorKind, cause: unknown) => void;
}

/** A time window. */
export interface Window {
  /** Inclusive. */
  readonly from: Instant;
  /** Exclusive. */
  readonly to: Instant;
}

/** Receives the lines of one log that are in the time window and match the filter. */
export interface LineSink {
  readonly onLine: OnLine;
  /** The scan stops reading the log at this time; undefined: at the end of the window. */
  readonly until?: () => Instant | undefined;
}

export type SinkFor = (log: ContainerLog, rank: number) => LineSink;

/** Lines that are read from the end of a log above `bytesPerLog`, as a share of the lines read from its start. */
const TAIL_SHARE = 0.9;
/** A first line that is more than this many seconds after the start of the container counts as a sign of rotation. */
const QUIET_START_S = 60;
/** A first line up to this many seconds after the start of the window is no sign of rotation. */
const SMALL_GAP_S = 1;

export class LogScan {
  readonly #options: LogScanOptions;
  /** Cache of the times of first lines; a value is undefined for an empty log. */
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

  /** True after the time limit. */
  get isOver(): boolean {
    return this.#options.deadline.aborted;
  }

  /** True as long as there are no shortfalls. */
  get isComplete(): boolean {
    return this.shortfalls.list().length === 0;
  }

  /** Total of a response: exact (`eq`) if the scan is complete, else a lower bound (`gte`). */
  total(count: number): Total {
    return { count, relation: this.isComplete ? 'eq' : 'gte' };
  }

  /** Reads all lines of the time range. Throws LogReadError if no log can be read. */
  async readAll(sinkFor: SinkFor): Promise<void> {
    await this.readWindow({ from: BEGINNING, to: this.#options.end }, sinkFor);
  }

  /** Reads all lines of a time window. Throws LogReadError if no log can be read. */
  async readWindow({ from, to }: Window, sinkFor: SinkFor): Promise<void> {
    const { beginOf } = this.#options;
    const beginIn = ({ namespace }: ContainerLog): Instant => later(beginOf(namespace), from);
    await this.#each(
      (log, rank) => this.#readLog(log, { from: beginIn(log), to }, sinkFor(log, rank)),
      (log) => mayReach(log, beginIn(log)),
    );
  }

  /** Requests the time of the first line of each log, by rank; undefined for an empty log. */
  async firstTimes(): Promise<(Instant | undefined)[]> {
    const { reader, logs, deadline } = this.#options;
    const times = Array<Instant | undefined>(logs.length).fill(undefined);
    await this.#each(async (log, rank) => {
      times[rank] = await reader.firstTime(log, deadline);
      if (!this.#firstLines.has(log)) this.#firstLines.set(log, times[rank]);
    });
    return times;
  }

  /** Adds a shortfall: the kubelet has deleted the lines before `first`. */
  addRotated(log: ContainerLog, first: Instant): void {
    const what = 'rotated, and start at the time in parentheses';
    this.shortfalls.addLog('NotCovered', what, log, ` (${first})`);
  }

  /** True if the first line is known to be after `end`: then no request is needed. */
  #startsAfter(log: ContainerLog, end: Instant): boolean {
    if (!this.#firstLines.has(log)) return false;
    const first = this.#firstLines.get(log);
    return first === undefined || first >= shifted(end, DISORDER_S);
  }

  /** Reads one log; a log above `bytesPerLog` from its start and then from its end. */
  async #readLog(log: ContainerLog, window: Window, sink: LineSink): Promise<void> {
    const { reader, filter, shortfalls, deadline: signal, bytesPerLog: limitBytes } = this.#options;
    const { from, to } = window;
    if (this.#startsAfter(log, to)) return this.#checkRotation(log, from, undefined);
    const until = (): Instant => earlier(sink.until?.() ?? to, to);
    const since = from === BEGINNING ? undefined : from;
    const onLine: OnLine = (time, text, ordinal) => {
      if (time >= from && time < to && filter(text)) sink.onLine(time, text, ordinal);
    };
    const [extent, tail] = [newExtent(), newExtent()];
    try {
      await reader.read(log, { since, until, limitBytes, signal }, onLine, extent);
      const isCut = limitBytes !== undefined && extent.bytes >= limitBytes && !extent.hasPassed;
      if (!isCut) return await this.#checkRotation(log, from, extent.first);
      shortfalls.addLog('Limit', 'too long: only the oldest and the newest lines were read', log);
      const { last } = extent;
      const tailLines = Math.max(1, Math.floor(extent.lines * TAIL_SHARE));
      const newer: OnLine = (time, text, ordinal) => {
        if (time > last) onLine(time, text, ordinal);
      };
      await reader.read(log, { since, until, limitBytes: limitBytes * 2, tailLines, signal }, newer, tail);
    } finally {
      if (extent.truncated || tail.truncated)
        shortfalls.add('Limit', 'lines longer than 1 MiB were truncated');
    }
  }

  /**
   * Adds a shortfall if the kubelet has deleted rotated files with lines of the window. The pod log API does not report
   * that, so it is inferred from the time of the first line and the start of the container. `first`: the first line
   * that was read.
   */
  async #checkRotation(log: ContainerLog, begin: Instant, first: Instant | undefined): Promise<void> {
    const { reader, deadline } = this.#options;
    const { startedAt } = log.run;
    if (startedAt === undefined) return;
    const started = instantOf(Math.max(0, startedAt));
    const isGap = (kept: Instant | undefined): boolean =>
      kept === undefined || kept > shifted(begin, SMALL_GAP_S);
    let kept = first;
    if (started < begin && isGap(first)) {
      if (!this.#firstLines.has(log)) this.#firstLines.set(log, await reader.firstTime(log, deadline));
      kept = this.#firstLines.get(log);
    }
    if (log.predecessors && started > begin) this.addRotated(log, started);
    else if (kept !== undefined && isGap(kept) && kept > shifted(started, QUIET_START_S))
      this.addRotated(log, kept);
  }

  /**
   * Calls `work` for each wanted log, up to `concurrency` at the same time, until the time limit. Adds shortfalls for
   * logs that fail, are not reached in time, or belong to a container that restarted.
   */
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
            if (this.#addFailure(log, error)) failures.push(error);
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

  /**
   * Adds a shortfall. Returns true for causes that can affect all logs: an unreachable kube-apiserver, no permission.
   */
  #addFailure(log: ContainerLog, { kind, cause }: LogReadError): boolean {
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
 * Orders the logs round-robin by node. This spreads concurrent requests over the kubelets, and a slow kubelet occupies
 * few of the concurrent reads.
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
