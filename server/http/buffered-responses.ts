// Limits the memory for complete responses that clients have not read yet. At the limit, the server aborts the
// response that was idle for the longest time.
import type { Logger } from 'pino';
import { orAborted } from '../concurrency/or-aborted.ts';
import type { RequestContext } from '../request/request-context.ts';
import { piecesOf, writeBody } from './response-writer.ts';

export interface BufferedResponsesOptions {
  /** Maximum total size of waiting responses in bytes. A longer response is allowed if no other one waits. */
  readonly bytes: number;
  /** Time in ms from its start during which a response is not aborted. */
  readonly protectedMs: number;
  /** Monotonic clock in ms. */
  readonly monotonic?: () => number;
}

interface WaitingResponse {
  readonly size: number;
  readonly startedAt: number;
  /** Time at which the client last read. */
  readAt: number;
  readonly abort: AbortController;
  readonly log: Pick<Logger, 'info' | 'error'>;
}

type Client = Pick<RequestContext, 'response' | 'signal' | 'log'>;

export class BufferedResponses {
  readonly #options: BufferedResponsesOptions;
  readonly #monotonic: () => number;
  /** Responses in the order of their start. */
  readonly #responses = new Set<WaitingResponse>();
  #bytes = 0;
  readonly #waiting = new Set<() => void>();

  constructor(options: BufferedResponsesOptions) {
    this.#options = options;
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  /** Waits for memory and starts the response. Rejects with the signal's reason if it is aborted before. */
  async write(client: Client, body: Buffer, writeHead: () => void): Promise<void> {
    const waiting = await this.#reserve(body.length, client);
    try {
      writeHead();
    } catch (error) {
      this.#release(waiting);
      throw error;
    }
    void this.#send(client, body, waiting);
  }

  async #send({ response, signal, log }: Client, body: Buffer, waiting: WaitingResponse): Promise<void> {
    try {
      await writeBody(
        response,
        this.#chunks(body, waiting),
        AbortSignal.any([signal, waiting.abort.signal]),
        0,
      );
    } catch (err) {
      log.error({ err }, 'a response could not be written');
      response.destroy();
    } finally {
      this.#release(waiting);
    }
  }

  *#chunks(body: Buffer, waiting: WaitingResponse): Generator<Buffer> {
    for (const piece of piecesOf(body)) {
      waiting.readAt = this.#monotonic();
      yield piece;
    }
  }

  async #reserve(size: number, { signal, log }: Client): Promise<WaitingResponse> {
    while (this.#responses.size > 0 && this.#bytes + size > this.#options.bytes) {
      const victim = this.#mostIdle();
      if (victim) this.#abort(victim);
      else await this.#freed(signal);
    }
    const now = this.#monotonic();
    const waiting = { size, startedAt: now, readAt: now, abort: new AbortController(), log };
    this.#responses.add(waiting);
    this.#bytes += size;
    return waiting;
  }

  /** Returns the response whose client has not read for the longest time; undefined if all are protected. */
  #mostIdle(): WaitingResponse | undefined {
    const unprotectedSince = this.#monotonic() - this.#options.protectedMs;
    let mostIdle: WaitingResponse | undefined;
    for (const waiting of this.#responses) {
      if (waiting.startedAt > unprotectedSince) break;
      if (!mostIdle || waiting.readAt < mostIdle.readAt) mostIdle = waiting;
    }
    return mostIdle;
  }

  #abort(waiting: WaitingResponse): void {
    this.#release(waiting);
    waiting.log.info('a response was aborted: its client is slow, and other responses need the memory');
    waiting.abort.abort();
  }

  #release(waiting: WaitingResponse): void {
    if (!this.#responses.delete(waiting)) return;
    this.#bytes -= waiting.size;
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when a response has ended, or when the oldest one is not protected any more. */
  async #freed(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const [oldest] = this.#responses;
    const ms = (oldest?.startedAt ?? 0) + this.#options.protectedMs - this.#monotonic();
    const timer = setTimeout(resolve, Math.max(1, ms));
    this.#waiting.add(resolve);
    try {
      await orAborted(promise, signal);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(resolve);
    }
  }
}
