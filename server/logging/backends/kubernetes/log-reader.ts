// Reader of container logs from the pod log API. Concurrent requests are limited and shared fairly among callers.
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Seats } from '../../../admission/seats.ts';
import type { ClusterClient } from '../../../cluster/connection/client.ts';
import { StalledError } from '../../../cluster/connection/response-body.ts';
import { streamedBody } from '../../../cluster/connection/response-stream.ts';
import type { TimeSlicer, TimeSlices } from '../../../concurrency/time-slicer.ts';
import { BoundedMap } from '../../../memory/bounded-map.ts';
import type { Instant } from '../../log-store.ts';
import type { ContainerLog } from './container-log.ts';
import { newKubeletError } from './kubelet-error.ts';
import { DISORDER_S, shifted, wholeSecond } from './kubelet-time.ts';
import { type Extent, LineReader, newExtent, type OnLine, type OpenLine } from './line-reader.ts';
import { LogReadError, type LogRequest, openLog } from './log-request.ts';
import type { MemoryShare } from './memory-budget.ts';

export interface ReadOptions {
  readonly signal: AbortSignal;
  readonly limitBytes?: number | undefined;
  /** Reading stops at this time. Called before each part of a chunk, because the time can become earlier. */
  readonly until?: () => Instant | undefined;
  /**
   * Treatment of a last line without a newline: `complete` passes it on, `ignored` drops it, and `confirmed` passes it on
   * if the log still ends there when it is read again. By default, it is an error. Both a prompt of a running container
   * and a response that was interrupted end so: kube-apiserver ends a response properly if the kubelet breaks off.
   */
  readonly lastLine?: 'complete' | 'ignored' | 'confirmed' | undefined;
  /** Backpressure: a promise to await before the next chunk is read, or undefined. Called again after the promise. */
  readonly room?: () => Promise<void> | undefined;
  /** Called after the lines of each chunk of the response. */
  readonly flush?: () => void;
  /** Accounts for the memory of an incomplete line. */
  readonly memory?: MemoryShare;
}

export type ReadRequest = ReadOptions & Pick<LogRequest, 'since' | 'tailLines'>;
export type StreamRequest = ReadOptions & Omit<LogRequest, 'log'>;

export interface LogReaderOptions {
  readonly client: ClusterClient;
  readonly log: Pick<Logger, 'debug'>;
  /** Limit of concurrent requests of all callers. */
  readonly seats: Seats;
  readonly slicer: TimeSlicer;
  /** Timeout without data, in ms. */
  readonly idleMs?: number | undefined;
  /** A monotonic clock, in ms. */
  readonly now?: () => number;
}

const IDLE_MS = 10_000;
/** Bytes per ms. A response below this speed for the idle timeout counts as silent, because it occupies a seat. */
const MIN_SPEED = 16;
/**
 * Bytes that are decoded at once. Memory is checked once per chunk, so it can be exceeded by the lines of one chunk.
 */
const MAX_CHUNK = 16 << 10;
/** Byte limit of requests for the time of the first line: enough for the timestamp. */
const HEAD_BYTES = 64;
/** Time in ms in which reads of logs of a node fail at once after its kubelet timed out, so that they occupy no seats. */
const PAUSE_MS = 5_000;
const MAX_NODES = 10_000;

/** Maximum number of times that a log is read again because it ends within another line each time. */
const MAX_CONFIRMATIONS = 3;

export class LogReader {
  readonly #options: LogReaderOptions;
  /** The end of the pause of each node. */
  readonly #pauses: BoundedMap<string, number>;
  readonly #caller: string | undefined;
  readonly #now: () => number;

  constructor(
    options: LogReaderOptions,
    pauses = new BoundedMap<string, number>(MAX_NODES),
    caller?: string,
  ) {
    this.#options = options;
    this.#pauses = pauses;
    this.#caller = caller;
    this.#now = options.now ?? (() => performance.now());
  }

  /** A reader for one caller that shares the seats and skipped nodes of this reader. */
  of(caller: string | undefined): LogReader {
    return new LogReader(this.#options, this.#pauses, caller);
  }

  /**
   * Requests a log and calls `onLine` for each line. Throws LogReadError, possibly after some lines, or the reason of
   * the signal. Updates `extent` while it reads.
   */
  async read(
    log: ContainerLog,
    request: ReadRequest,
    onLine: OnLine,
    extent: Extent = newExtent(),
  ): Promise<Extent> {
    const { seats, idleMs = IDLE_MS } = this.#options;
    const { node, running } = log;
    this.#checkNode(node);
    using _seat = await seats.take(this.#caller ?? '', request);
    this.#checkNode(node);
    try {
      const lastLine = running ? 'confirmed' : 'complete';
      await this.stream(log, { lastLine, ...request, timeoutMs: idleMs }, onLine, extent);
    } catch (error) {
      const isSilent = error instanceof LogReadError && error.kind === 'silent';
      // A pod that is not scheduled has no node.
      if (isSilent && node !== '') this.#pauses.set(node, this.#now() + PAUSE_MS);
      throw error;
    }
    return extent;
  }

  /** Reads a log without a seat, for live tails: a stream with a slow client would delay queries. */
  async stream(
    log: ContainerLog,
    request: StreamRequest,
    onLine: OnLine,
    extent: Extent = newExtent(),
  ): Promise<void> {
    try {
      await this.#readToEnd(log, request, onLine, extent);
    } catch (error) {
      if (error instanceof LogReadError && error.kind !== 'empty') {
        const { namespace, pod, container, previous } = log;
        const { kind, cause: err } = error;
        const fields = { namespace, pod, container, previous, kind, err };
        this.#options.log.debug(fields, 'cannot read a container log');
      }
      throw error;
    }
  }

  /** Throws LogReadError during the pause of a node. */
  #checkNode(node: string): void {
    if (this.#now() >= (this.#pauses.get(node) ?? 0)) return;
    throw new LogReadError('failed', new Error(`node ${node} does not respond`));
  }

  /** Requests the time of the first line; undefined for an empty log. */
  async firstTime(log: ContainerLog, signal: AbortSignal): Promise<Instant | undefined> {
    const request = { since: undefined, limitBytes: HEAD_BYTES, lastLine: 'complete', signal } as const;
    return (await this.read(log, request, () => undefined)).first;
  }

  /**
   * Reads a log to its end. If a response ends within a line, further responses show whether the log does, too. It also
   * does if it grows in the meantime: if the line was continued, or if the last entry is not later than the line.
   */
  async #readToEnd(log: ContainerLog, request: StreamRequest, onLine: OnLine, extent: Extent): Promise<void> {
    const { follow, since, lastLine } = request;
    let { open, message } = await this.#receive(log, request, onLine, extent);
    for (let attempt = 1; open || message !== undefined; attempt++) {
      const isLast = attempt > MAX_CONFIRMATIONS;
      if (message !== undefined) {
        const isPart = !follow && since !== undefined && extent.lines === 0;
        const end = isPart ? await this.#endOf(log, request) : undefined;
        // The kubelet omits a last entry that is out of order, and earlier than the range.
        const isOmitted = end && since && wholeSecond(end.time) < wholeSecond(shifted(since, -DISORDER_S));
        if (end && (isOmitted || message.endsWith(end.text))) return;
        if (!end || isLast) throw newKubeletError(message);
        const before = message;
        ({ open, message } = await this.#receive(log, request, onLine, extent));
        if (message !== undefined && isContinued(before, message)) return;
      } else if (open) {
        if (follow || lastLine !== 'confirmed') throw newKubeletError(ENDED_WITHIN_LINE);
        const before = open;
        if (isLast) {
          const end = await this.#endOf(log, request);
          if (!end || end.time > shifted(open.time, DISORDER_S)) throw newKubeletError(ENDED_WITHIN_LINE);
        } else {
          ({ open, message } = await this.#resume(log, request, before, onLine, extent));
        }
        if (!open || !isSame(open, before) || !open.text.startsWith(before.text)) continue;
        extent.first ??= open.time;
        extent.lines++;
        await onLine(open.time, open.text, open.ordinal);
        request.flush?.();
        return;
      }
    }
  }

  /** Reads the log again, from an incomplete line on. */
  async #resume(
    log: ContainerLog,
    request: StreamRequest,
    from: OpenLine,
    onLine: OnLine,
    extent: Extent,
  ): Promise<Ending> {
    let isFound = false;
    const fromThere: OnLine = (...line) => {
      isFound ||= isSame(from, { time: line[0], ordinal: line[2] });
      return isFound ? onLine(...line) : undefined;
    };
    const again = newExtent();
    const resumed = { ...request, since: from.time, limitBytes: undefined, tailLines: undefined };
    const ending = await this.#receive(log, resumed, fromThere, again);
    extent.truncated ||= again.truncated;
    extent.hasPassed ||= again.hasPassed;
    if (isFound || (ending.open && isSame(from, ending.open))) return ending;
    // The log is rotated, or this response is interrupted, too.
    throw newKubeletError(ending.message ?? ENDED_WITHIN_LINE);
  }

  /** Returns the last entry of the log, with its newline if it has one; undefined if the kubelet cannot read the log. */
  async #endOf(log: ContainerLog, { signal, timeoutMs }: StreamRequest): Promise<LogEntry | undefined> {
    let last: LogEntry | undefined;
    const onLine: OnLine = (time, text) => void (last = { time, text: `${text}\n` });
    const request = { since: undefined, tailLines: 1, lastLine: 'confirmed', signal, timeoutMs } as const;
    const { open, message } = await this.#receive(log, request, onLine, newExtent());
    return message === undefined ? (open ?? last) : undefined;
  }

  /** Reads one response. */
  async #receive(log: ContainerLog, options: StreamRequest, onLine: OnLine, extent: Extent): Promise<Ending> {
    const response = await openLog(this.#options.client, { ...options, log });
    const { until = () => undefined, limitBytes = Number.POSITIVE_INFINITY, signal, timeoutMs } = options;
    const slices = this.#options.slicer.of({ caller: this.#caller, signal });
    const omitsStarts = options.since !== undefined;
    const lines = new LineReader({ onLine, extent, slices, omitsStarts, memory: options.memory });
    const maxLateMs = options.follow ? Number.POSITIVE_INFINITY : timeoutMs;
    for await (const chunk of this.#bodyOf(response, { idleMs: timeoutMs, maxLateMs, signal })) {
      await waitForSlice(slices, options);
      lines.push(chunk);
      while (!lines.read(until())) {
        await lines.pending();
        await slices.next();
        signal.throwIfAborted();
      }
      options.flush?.();
      if (extent.hasPassed) return {};
    }
    // `limitBytes` truncates the last line. It is dropped, unless it is the only one: firstTime() needs its timestamp.
    const isCut = extent.bytes >= limitBytes;
    const { lastLine } = options;
    const open =
      isCut || lastLine === 'ignored' || lastLine === 'complete' ? undefined : lines.openLine(until());
    if (isCut ? extent.lines === 0 : lastLine === 'complete') await lines.readRest();
    options.flush?.();
    return { open, message: isCut && omitsStarts ? undefined : lines.message };
  }

  /** Yields parts of the chunks. The time that the server needs for a chunk does not count. */
  async *#bodyOf(
    response: IncomingMessage,
    { idleMs, maxLateMs, signal }: { idleMs: number; maxLateMs: number; signal: AbortSignal },
  ): AsyncGenerator<Buffer, void, undefined> {
    let lateMs = 0;
    let began = this.#now();
    try {
      for await (const chunk of streamedBody(response, idleMs)) {
        lateMs = Math.max(0, lateMs + this.#now() - began - chunk.length / MIN_SPEED);
        if (lateMs > maxLateMs) throw new StalledError(idleMs);
        for (let at = 0; at < chunk.length; at += MAX_CHUNK) yield chunk.subarray(at, at + MAX_CHUNK);
        began = this.#now();
      }
    } catch (error) {
      signal.throwIfAborted();
      throw new LogReadError(error instanceof StalledError ? 'silent' : 'failed', error);
    }
  }
}

/** Waits for a slice and for `room`, which is checked again after each wait: another reader can use it up. */
async function waitForSlice(slices: TimeSlices, { room, signal }: StreamRequest): Promise<void> {
  await slices.next();
  for (let full = room?.(); full && !signal.aborted; full = room?.()) {
    await full;
    await slices.next();
  }
  signal.throwIfAborted();
}

/** The incomplete end of a response. */
interface Ending {
  readonly open?: OpenLine | undefined;
  /** A text without a time: an error message of the kubelet, or the end of a line that started before the response. */
  readonly message?: string | undefined;
}

type LogEntry = Pick<OpenLine, 'time' | 'text'>;

const ENDED_WITHIN_LINE = 'the response ended within a line';

function isSame(a: Omit<OpenLine, 'text'>, b: Omit<OpenLine, 'text'>): boolean {
  return a.time === b.time && a.ordinal === b.ordinal;
}

/** True for a part of a line that grows. An error message of the kubelet is repeated, or is another one. */
function isContinued(before: string, after: string): boolean {
  return after.length > before.length && after.startsWith(before);
}
