// Reader of container logs from the pod log API. Concurrent requests are limited and shared fairly among callers.
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Seats } from '../../../admission/seats.ts';
import type { ClusterClient } from '../../../cluster/connection/client.ts';
import type { TimeSlicer } from '../../../concurrency/time-slicer.ts';
import type { Instant } from '../../store/log-store.ts';
import type { ContainerLog } from './container-log.ts';
import { type Extent, newExtent, type OnLine } from './line-reader.ts';
import { LogReadError, type LogRequest } from './log-request.ts';
import { LogResponses, type ReadOptions, type StreamRequest } from './log-response.ts';
import { WholeLog } from './whole-log.ts';

type ReadRequest = ReadOptions & Pick<LogRequest, 'since' | 'tailLines'>;

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
  /** Milliseconds since the epoch. */
  readonly wallClock?: (() => number) | undefined;
}

const IDLE_MS = 10_000;
/** Byte limit of requests for the time of the first line: enough for the timestamp. */
const HEAD_BYTES = 64;
/** Time in ms in which reads of logs of a node fail at once after its kubelet timed out, so that they occupy no seats. */
const PAUSE_MS = 5_000;
const MAX_NODES = 1_024;

export class LogReader {
  readonly #options: LogReaderOptions;
  /** The nodes with a pause. */
  readonly #pauses: LRUCache<string, true>;
  readonly #caller: string | undefined;
  readonly #responses: LogResponses;

  constructor(options: LogReaderOptions, pauses?: LRUCache<string, true>, caller?: string) {
    const { now = () => performance.now(), wallClock = Date.now } = options;
    this.#options = options;
    this.#pauses = pauses ?? new LRUCache({ max: MAX_NODES, ttl: PAUSE_MS, ttlResolution: 0, perf: { now } });
    this.#caller = caller;
    this.#responses = new LogResponses({ ...options, caller, now, wallClock });
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
    const { node } = log;
    this.#checkNode(node);
    using _seat = await seats.take(this.#caller ?? '', request);
    this.#checkNode(node);
    try {
      await this.stream(log, { lastLine: 'confirmed', ...request, timeoutMs: idleMs }, onLine, extent);
    } catch (error) {
      const isSilent = error instanceof LogReadError && error.kind === 'silent';
      // A pod that is not scheduled has no node.
      if (isSilent && node !== '') this.#pauses.set(node, true);
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
      await new WholeLog(this.#responses, log, request, onLine, extent).read();
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
    if (!this.#pauses.has(node)) return;
    throw new LogReadError('failed', new Error(`node ${node} does not respond`));
  }

  /** Requests the time of the first line; undefined for an empty log. */
  async firstTime(log: ContainerLog, signal: AbortSignal): Promise<Instant | undefined> {
    const request = { since: undefined, limitBytes: HEAD_BYTES, lastLine: 'complete', signal } as const;
    return (await this.read(log, request, () => undefined)).first;
  }
}
