// LogResponses: reads single responses of the pod log API. It passes on their lines, and returns how they end.
import type { ClusterClient } from '../../../cluster/connection/client.ts';
import { streamedBody } from '../../../cluster/connection/response-stream.ts';
import type { TimeSlicer, TimeSlices } from '../../../concurrency/time-slicer.ts';
import { StalledError, type UpstreamResponse } from '../../../upstream/upstream-response.ts';
import type { Instant } from '../../store/log-store.ts';
import type { ContainerLog } from './container-log.ts';
import { newKubeletError } from './kubelet-error.ts';
import type { MemoryShare } from './line-memory.ts';
import { type Extent, LineReader, type OnLine, type OpenLine } from './line-reader.ts';
import { confirmPod, LogReadError, type LogRequest, openLog } from './log-request.ts';
import type { UntimedText } from './untimed-text.ts';

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

export type StreamRequest = ReadOptions & Omit<LogRequest, 'log'>;

/** The end of a response, if it is not the end of a line of the range. */
export interface Ending {
  /** The incomplete last line. */
  readonly open?: OpenLine | undefined;
  /** The end of a line that started before the range, or an error message of the kubelet. */
  readonly untimed?: UntimedText | undefined;
}

interface LogResponsesOptions {
  readonly client: ClusterClient;
  readonly slicer: TimeSlicer;
  readonly caller: string | undefined;
  /** A monotonic clock, in ms. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
}

/**
 * Bytes that are decoded at once. Memory is checked once per chunk, so it can be exceeded by the lines of one chunk.
 */
const MAX_CHUNK = 16 << 10;
/** Bytes per ms. A response below this speed for the idle timeout counts as silent, because it occupies a seat. */
const MIN_SPEED = 16;

export class LogResponses {
  readonly #options: LogResponsesOptions;

  constructor(options: LogResponsesOptions) {
    this.#options = options;
  }

  /** Throws LogReadError, also for an error message of the kubelet behind lines of the range, or the reason of the signal. */
  async receive(log: ContainerLog, options: StreamRequest, onLine: OnLine, extent: Extent): Promise<Ending> {
    const { client } = this.#options;
    const response = await openLog(client, { ...options, log });
    const confirmed = confirmPod(client, { ...options, log });
    // Also ends a response that has no line yet.
    confirmed.catch(() => response.destroy());
    const { until = () => undefined, limitBytes = Number.POSITIVE_INFINITY, signal, timeoutMs } = options;
    const slices = this.#options.slicer.of({ caller: this.#options.caller, signal });
    const { since, memory } = options;
    const { wallClock } = this.#options;
    const lines = new LineReader({ onLine, extent, wallClock, slices, since, memory });
    const maxLateMs = options.follow ? Number.POSITIVE_INFINITY : timeoutMs;
    for await (const chunk of this.#bodyOf(response, { idleMs: timeoutMs, maxLateMs, signal })) {
      await confirmed;
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
    const { untimed, hasBegun } = lines;
    if (isCut && since !== undefined) return {};
    if (untimed && hasBegun) throw newKubeletError(untimed.start);
    return { open, untimed };
  }

  /** Yields parts of the chunks. The time that the server needs for a chunk does not count. */
  async *#bodyOf(
    response: UpstreamResponse,
    { idleMs, maxLateMs, signal }: { idleMs: number; maxLateMs: number; signal: AbortSignal },
  ): AsyncGenerator<Buffer, void, undefined> {
    const { now } = this.#options;
    let lateMs = 0;
    let began = now();
    try {
      for await (const chunk of streamedBody(response.stream(), idleMs)) {
        lateMs = Math.max(0, lateMs + now() - began - chunk.length / MIN_SPEED);
        if (lateMs > maxLateMs) throw new StalledError(idleMs);
        for (let at = 0; at < chunk.length; at += MAX_CHUNK) yield chunk.subarray(at, at + MAX_CHUNK);
        began = now();
      }
    } catch (error) {
      signal.throwIfAborted();
      throw new LogReadError(error instanceof StalledError ? 'silent' : 'failed', error);
    }
  }
}

/** Waits for a slice and for `room`, which is checked again after each wait: another reader can use it up. */
async function waitForSlice(slices: TimeSlices, { room, signal }: ReadOptions): Promise<void> {
  await slices.next();
  for (let full = room?.(); full && !signal.aborted; full = room?.()) {
    await full;
    await slices.next();
  }
  signal.throwIfAborted();
}
