// Scan of all selected container logs within a time range. Each log that is not read completely is reported.
import { BEGINNING, earlier, instantOf, later } from '../../store/instant.ts';
import type { Instant, Total } from '../../store/log-store.ts';
import { LINES_TRUNCATED } from '../../store/page-limit.ts';
import { type ContainerLog, isReplaced, mayReach } from './container-log.ts';
import { shifted } from './kubelet-time.ts';
import { ifAccepted, type LineFilter } from './line-filter.ts';
import { newExtent, type OnLine } from './line-reader.ts';
import type { LogReader } from './log-reader.ts';
import { LogReadError } from './log-request.ts';
import type { Pods } from './pods.ts';
import type { Shortfalls } from './shortfalls.ts';

interface LogScanOptions {
  readonly reader: LogReader;
  readonly pods: Pick<Pods, 'get'>;
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
}

/** A time window. */
export interface Window {
  /** Inclusive. */
  readonly from: Instant;
  /** Exclusive. */
  readonly to: Instant;
}

/** Receives the lines of one log that are in the time window and match the filter. */
interface LineSink {
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

  /**
   * Reads all lines of a time window, until the time limit. Adds shortfalls for logs that fail, are not read in time, or
   * belong to a container that restarted. Throws LogReadError if no log can be read.
   */
  async readWindow({ from, to }: Window, sinkFor: SinkFor): Promise<void> {
    const { beginOf, logs, pods, concurrency, deadline, signal, shortfalls } = this.#options;
    const queue = logs.entries();
    const failures: LogReadError[] = [];
    let [started, done] = [0, 0];
    const worker = async (): Promise<void> => {
      for (const [rank, log] of queue) {
        const begin = later(beginOf(log.namespace), from);
        if (mayReach(log, begin)) {
          started++;
          try {
            await this.#readLog(log, { from: begin, to }, sinkFor(log, rank));
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

  /** Reads one log; a log above `bytesPerLog` from its start and then from its end. */
  async #readLog(log: ContainerLog, window: Window, sink: LineSink): Promise<void> {
    const { reader, filter, shortfalls, deadline: signal, bytesPerLog: limitBytes } = this.#options;
    const { from, to } = window;
    const until = (): Instant => earlier(sink.until?.() ?? to, to);
    const since = from === BEGINNING ? undefined : from;
    const onLine: OnLine = (time, text, ordinal) => {
      if (time < from || time >= to) return;
      return ifAccepted(filter(text), () => sink.onLine(time, text, ordinal));
    };
    const [extent, tail] = [newExtent(), newExtent()];
    try {
      await reader.read(log, { since, until, limitBytes, signal }, onLine, extent);
      const isCut = limitBytes !== undefined && extent.bytes >= limitBytes && !extent.hasPassed;
      if (!isCut) return await this.#checkRotation(log, from, extent.first);
      shortfalls.addLog('Limit', 'too long: only the oldest and the newest lines were read', log);
      const { last } = extent;
      const tailLines = 1 + Math.max(1, Math.floor(extent.lines * TAIL_SHARE));
      // The response can start within a line: its first line is dropped.
      const newer: OnLine = (...line) => (tail.lines > 1 && line[0] > last ? onLine(...line) : undefined);
      await reader.read(log, { since, until, limitBytes: limitBytes * 2, tailLines, signal }, newer, tail);
    } finally {
      if (extent.truncated || tail.truncated) shortfalls.add(LINES_TRUNCATED.reason, LINES_TRUNCATED.message);
    }
  }

  /**
   * Adds a shortfall if the kubelet has deleted rotated files, or logs of earlier restarts, with lines of the window.
   * The pod log API does not report rotation, so it is inferred from the time of the first line and the start of the
   * container. `first`: time of the first line that was read.
   */
  async #checkRotation(log: ContainerLog, begin: Instant, first: Instant | undefined): Promise<void> {
    const { reader, deadline, shortfalls } = this.#options;
    const { startedAt } = log.run;
    if (startedAt === undefined) return;
    const started = instantOf(Math.max(0, startedAt));
    const isGap = (kept: Instant | undefined): boolean =>
      kept === undefined || kept > shifted(begin, SMALL_GAP_S);
    const kept = started < begin && isGap(first) ? await reader.firstTime(log, deadline) : first;
    const isRotated = kept !== undefined && isGap(kept) && kept > shifted(started, QUIET_START_S);
    const hasLostRuns = log.predecessors && started > begin;
    if (!hasLostRuns && !isRotated) return;
    const begins = hasLostRuns ? started : kept;
    const what = hasLostRuns
      ? 'without lines before the time in parentheses, because the logs of earlier restarts were deleted'
      : 'rotated, without lines before the time in parentheses';
    shortfalls.addLog('NotCovered', what, log, ` (${begins})`);
  }

  /**
   * Adds a shortfall. Returns true for causes that can affect all logs: an unreachable kube-apiserver, no permission.
   */
  #addFailure(log: ContainerLog, { kind }: LogReadError): boolean {
    if (kind === 'empty') return false;
    const isGone = kind === 'gone';
    const why = isGone ? 'the pod or its log was deleted' : 'the kubelet did not respond correctly';
    this.shortfalls.addLog('NotCovered', `not read to the end, because ${why}`, log);
    return kind === 'unreachable' || kind === 'forbidden';
  }
}
