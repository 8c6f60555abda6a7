// Reads container logs line by line, time-sliced: a limited number at the same time, and fair between callers.
import type { IncomingMessage } from 'node:http';
import type { ClusterClient } from '../../../../cluster/connection/client.ts';
import { StalledError } from '../../../../cluster/connection/response-body.ts';
import { streamedBody } from '../../../../cluster/connection/response-stream.ts';
import type { Slots } from '../../../../concurrency/slots.ts';
import type { TimeSlicer } from '../../../../concurrency/time-slicer.ts';
import { BoundedMap } from '../../../../memory/bounded-map.ts';
import type { Instant } from '../../../log-store.ts';
import type { ContainerLog } from '../pods/container-log.ts';
import { type Extent, LineReader, newExtent, type OnLine } from './line-reader.ts';
import { LogReadError, type LogRequest, openLog } from './log-request.ts';
import type { MemoryShare } from './memory-budget.ts';

export interface ReadOptions {
  readonly signal: AbortSignal;
  readonly limitBytes?: number | undefined;
  /** Lines of this time and later ones are not wanted. Called repeatedly, because the time can become earlier. */
  readonly until?: () => Instant | undefined;
  /**
   * A last line without a newline: `complete` takes it as a line, `ignored` drops it, and by default the response counts
   * as interrupted.
   */
  readonly lastLine?: 'complete' | 'ignored' | undefined;
  /** A promise to await before the next chunk is read; called again afterwards. */
  readonly room?: () => Promise<void> | undefined;
  /** Called after the lines of each chunk. */
  readonly flush?: () => void;
  /** Memory for an incomplete line; without it, that memory is not accounted for. */
  readonly memory?: MemoryShare;
}

export type ReadRequest = ReadOptions & Pick<LogRequest, 'since' | 'tailLines'>;

export interface LogReaderOptions {
  readonly client: ClusterClient;
  /** Shared by all callers. */
  readonly slots: Slots;
  readonly slicer: TimeSlicer;
  /** Maximum silence of a kubelet, in ms. */
  readonly idleMs?: number | undefined;
}

const IDLE_MS = 10_000;
/** Bytes that are decoded at once: the lines of a chunk are held before the next check of the memory. */
const MAX_CHUNK = 16 << 10;
/** Enough for a timestamp: the times of the first and the last line need no more. */
const HEAD_BYTES = 64;

export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #nodes: UnresponsiveNodes;
  readonly #caller: string | undefined;

  constructor(options: LogReaderOptions, nodes = new UnresponsiveNodes(), caller?: string) {
    this.#options = options;
    this.#nodes = nodes;
    this.#caller = caller;
  }

  /** The same reader for one caller; callers get their slots in turn. */
  of(caller: string | undefined): LogReader {
    return new LogReader(this.#options, this.#nodes, caller);
  }

  /** Throws LogReadError, also midway, or the reason of the signal. Updates `extent` while it reads. */
  async read(
    log: ContainerLog,
    request: ReadRequest,
    onLine: OnLine,
    extent: Extent = newExtent(),
  ): Promise<Extent> {
    const { client, slots, idleMs = IDLE_MS } = this.#options;
    this.#nodes.check(log.node);
    using _slot = await slots.take(request.signal, this.#caller);
    this.#nodes.check(log.node);
    try {
      const response = await openLog(client, { ...request, log, timeoutMs: idleMs });
      const lastLine = log.running ? undefined : 'complete';
      await this.consume(response, { lastLine, ...request, idleMs }, onLine, extent);
      this.#nodes.responded(log.node);
    } catch (error) {
      if (error instanceof LogReadError && error.kind === 'silent') this.#nodes.timedOut(log.node);
      throw error;
    }
    return extent;
  }

  /** Time of the first or the last line; undefined for an empty log. */
  async timeOf(
    which: 'first' | 'last',
    log: ContainerLog,
    signal: AbortSignal,
  ): Promise<Instant | undefined> {
    const tail = which === 'last' ? { tailLines: 1 } : {};
    const request = {
      ...tail,
      since: undefined,
      limitBytes: HEAD_BYTES,
      lastLine: 'complete' as const,
      signal,
    };
    const { first } = await this.read(log, request, () => undefined);
    return first;
  }

  /** Reads the lines of an open response. */
  async consume(
    response: IncomingMessage,
    options: ReadOptions & { readonly idleMs: number },
    onLine: OnLine,
    extent: Extent = newExtent(),
  ): Promise<void> {
    const { until = () => undefined, limitBytes = Number.POSITIVE_INFINITY, signal, idleMs } = options;
    const { slicer } = this.#options;
    const lines = new LineReader({ onLine, extent, slicer, memory: options.memory });
    for await (const chunk of bodyOf(response, idleMs, signal)) {
      await this.#waitForSlice(options);
      lines.push(chunk);
      while (!lines.read(until())) {
        await lines.pending();
        await slicer.next();
        signal.throwIfAborted();
      }
      options.flush?.();
      if (extent.hasPassed) return;
    }
    // The limit cuts the last line, which then counts only as the first line.
    const isCut = extent.bytes >= limitBytes;
    if (isCut && extent.lines === 0) await lines.readRest(true);
    else if (!isCut && options.lastLine !== 'ignored') await lines.readRest(options.lastLine === 'complete');
    if (lines.message !== undefined) throw new LogReadError('failed', new KubeletError(lines.message));
    options.flush?.();
  }

  /** Several readers can wait for room, and the first one can use it up: the check is repeated in each slice. */
  async #waitForSlice({ room, signal }: Pick<ReadOptions, 'room' | 'signal'>): Promise<void> {
    const { slicer } = this.#options;
    await slicer.next();
    for (let full = room?.(); full && !signal.aborted; full = room?.()) {
      await full;
      await slicer.next();
    }
    signal.throwIfAborted();
  }
}

async function* bodyOf(
  response: IncomingMessage,
  idleMs: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of streamedBody(response, idleMs)) {
      for (let at = 0; at < chunk.length; at += MAX_CHUNK) yield chunk.subarray(at, at + MAX_CHUNK);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw new LogReadError(error instanceof StalledError ? 'silent' : 'failed', error);
  }
}

/** An error message of the kubelet among the lines; the cause of a LogReadError. */
export class KubeletError extends Error {
  override readonly name = 'KubeletError';

  constructor(message: string) {
    super(`kubelet: ${message}`);
  }
}

/** One slow log can delay the requests that were sent with it, so the first pause is short. */
const FIRST_PAUSE_MS = 1_000;
const PAUSE_MS = 15_000;
const MAX_NODES = 10_000;

/** Nodes whose kubelets timed out. Their logs fail at once for a while, so that they do not use up the slots. */
export class UnresponsiveNodes {
  readonly #now: () => number;
  readonly #nodes = new BoundedMap<string, { readonly timeouts: number; readonly until: number }>(MAX_NODES);

  /** `now`: a monotonic clock, in ms. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Throws LogReadError during the pause of a node. */
  check(node: string): void {
    const entry = this.#nodes.get(node);
    if (entry === undefined || this.#now() >= entry.until) return;
    throw new LogReadError('failed', new Error(`node ${node} does not respond`));
  }

  responded(node: string): void {
    this.#nodes.delete(node);
  }

  timedOut(node: string): void {
    // A pod that is not scheduled has no node.
    if (node === '') return;
    const timeouts = (this.#nodes.get(node)?.timeouts ?? 0) + 1;
    this.#nodes.set(node, { timeouts, until: this.#now() + (timeouts > 1 ? PAUSE_MS : FIRST_PAUSE_MS) });
  }
}
