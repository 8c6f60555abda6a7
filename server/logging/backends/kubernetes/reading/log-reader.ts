// Reads logs, line by line: a limited number at a time, and without blocking the event loop. The callers decide what the
// lines are for.
import type { IncomingMessage } from 'node:http';
import type { ClusterClient } from '../../../../cluster/connection/client.ts';
import { StalledError } from '../../../../cluster/connection/response-body.ts';
import type { Slots } from '../../../../concurrency/slots.ts';
import type { Turns } from '../../../../concurrency/turns.ts';
import type { Instant } from '../../../log-store.ts';
import type { LogSource } from '../pods/log-source.ts';
import { BlockDecoder } from './block-decoder.ts';
import { type Extent, LineReader, newExtent, type OnLine } from './line-reader.ts';
import { LogFailure, type LogRequest, openLog } from './log-request.ts';
import type { MemoryShare } from './memory-budget.ts';
import { ownChunks } from './own-chunks.ts';
import { SilentNodes } from './silent-nodes.ts';

export interface ReadRequest extends Omit<LogRequest, 'source' | 'timeoutMs'> {
  /** Where lines are no longer of interest; read again and again, since it may come nearer. */
  readonly until?: () => Instant | undefined;
  /** Whether the line that the limit cuts counts: for whoever only wants its time. */
  readonly headOnly?: boolean;
  /** Whether a last line may be without its end, and counts: nothing more will be written. */
  readonly ended?: boolean;
  /** Whether the log is read on from here later: then a last line without its end is none yet. */
  readonly goesOn?: boolean;
  /** What the next chunk has to wait for before it is split into lines; checked again afterwards. */
  readonly room?: () => Promise<void> | undefined;
  /** Called when the lines of a chunk are through. */
  readonly flush?: () => void;
  /** Holds what has come of a line that may take long to end; without it that is no part of any budget. */
  readonly unfinished?: MemoryShare;
}

export interface LogReaderOptions {
  readonly client: ClusterClient;
  /** Of all callers together. */
  readonly slots: Slots;
  readonly turns: Turns;
  /** How long a kubelet may take for the first byte and between two, in ms. */
  readonly idleMs?: number;
}

/** Bytes of a line that are kept. */
const LINE_LIMIT = 1 << 20;
const IDLE_MS = 10_000;

export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #silent: SilentNodes;
  readonly #caller: string | undefined;

  constructor(options: LogReaderOptions, silent = new SilentNodes(), caller?: string) {
    this.#options = options;
    this.#silent = silent;
    this.#caller = caller;
  }

  /** Callers read their logs in turns. */
  of(caller: string | undefined): LogReader {
    return new LogReader(this.#options, this.#silent, caller);
  }

  /** Throws LogFailure, also midway, or the reason of the signal. `extent` grows while lines come. */
  async read(source: LogSource, request: ReadRequest, onLine: OnLine, extent = newExtent()): Promise<Extent> {
    const { client, slots, idleMs: timeoutMs = IDLE_MS } = this.#options;
    this.#refuseSilent(source);
    using _slot = await slots.take(request.signal, this.#caller);
    this.#refuseSilent(source);
    try {
      const response = await openLog(client, { ...request, source, timeoutMs });
      const bounds = { ended: !source.running, ...request, idleMs: timeoutMs };
      await this.consume(response, bounds, onLine, extent);
      this.#silent.answered(source.node);
    } catch (error) {
      if (error instanceof LogFailure && error.kind === 'silent') this.#silent.wasSilent(source.node);
      throw error;
    }
    return extent;
  }

  #refuseSilent({ node }: LogSource): void {
    if (this.#silent.has(node)) throw new LogFailure('failed', new Error(`nothing comes from node ${node}`));
  }

  /** The lines of an answer that is open. */
  async consume(
    response: IncomingMessage,
    request: Omit<ReadRequest, 'since' | 'follow' | 'tailLines'> & { readonly idleMs: number },
    onLine: OnLine,
    extent: Extent,
  ): Promise<void> {
    const { until = () => undefined, limitBytes = Number.POSITIVE_INFINITY, signal, idleMs } = request;
    const { turns } = this.#options;
    const decoder = new BlockDecoder(LINE_LIMIT, request.unfinished);
    const lines = new LineReader(onLine, extent, turns);
    try {
      for await (const chunk of ownChunks(response, idleMs)) {
        extent.bytes += chunk.length;
        await this.#turnWithRoom(request);
        for (lines.take(decoder, chunk); lines.read(until()) === 'interrupted'; ) {
          await lines.taken();
          await turns.next();
          signal.throwIfAborted();
        }
        request.flush?.();
        if (lines.hasPassed) {
          extent.hasPassed = true;
          return;
        }
      }
      const rest = decoder.rest();
      // A line cut by the limit is not a line; but it has a time.
      const counts = request.headOnly ? extent.lines === 0 : extent.bytes < limitBytes && !request.goesOn;
      if (counts && rest !== '') lines.readRest(rest, request.ended === true || request.headOnly === true);
      await lines.taken();
      if (lines.remark !== undefined) throw new KubeletRemark(lines.remark);
      request.flush?.();
    } catch (error) {
      if (lines.fault) throw lines.fault.error;
      signal.throwIfAborted();
      throw new LogFailure(error instanceof StalledError ? 'silent' : 'failed', error);
    }
  }

  /** Many may wait for room, and the first of them takes it: it is looked at in one's own turn. */
  async #turnWithRoom({ room, signal }: Pick<ReadRequest, 'room' | 'signal'>): Promise<void> {
    const { turns } = this.#options;
    await turns.next();
    for (let full = room?.(); full && !signal.aborted; full = room?.()) {
      await full;
      await turns.next();
    }
    // A caller who left meanwhile must not get more lines.
    signal.throwIfAborted();
  }
}

/** Why nothing more comes, in words that stood among the lines; the cause of a LogFailure. */
export class KubeletRemark extends Error {
  override readonly name = 'KubeletRemark';

  constructor(remark: string) {
    super(`the kubelet says: ${remark}`);
  }
}
