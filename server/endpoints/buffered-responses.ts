// Answers that were made as a whole, and wait in memory for their readers: how much of them there may be at a time. Nobody
// can tell a slow reader from one who only wants the memory, so those who do take their answer are served first.
import type { Logger } from 'pino';
import { orAborted } from '../concurrency/or-aborted.ts';
import type { RequestContext } from '../request/request-context.ts';
import { piecesOf, writeBody } from './response.ts';

export interface BufferedResponsesOptions {
  /** Of all that wait, together; one that is longer waits alone. */
  readonly bytes: number;
  /** Ms in which an answer is not cut off, whoever else needs the room. */
  readonly patienceMs: number;
  /** Ms that never go back. */
  readonly monotonic?: () => number;
}

interface Held {
  readonly size: number;
  readonly begunAt: number;
  /** When its reader has taken something last. */
  takenAt: number;
  readonly over: AbortController;
  readonly log: Pick<Logger, 'info' | 'error'>;
}

type Reader = Pick<RequestContext, 'response' | 'signal' | 'log'>;

export class BufferedResponses {
  readonly #options: BufferedResponsesOptions;
  readonly #monotonic: () => number;
  /** In the order in which they began. */
  readonly #held = new Set<Held>();
  #bytes = 0;
  readonly #waiting = new Set<() => void>();

  constructor(options: BufferedResponsesOptions) {
    this.#options = options;
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  /** Resolves when the answer is on its way, not when it was read. Rejects with the signal's reason while there is no room. */
  async write(reader: Reader, body: Buffer, writeHead: () => void): Promise<void> {
    const held = await this.#room(body.length, reader);
    try {
      writeHead();
    } catch (error) {
      this.#leave(held);
      throw error;
    }
    void this.#send(reader, body, held);
  }

  async #send({ response, signal, log }: Reader, body: Buffer, held: Held): Promise<void> {
    try {
      await writeBody(response, this.#taken(body, held), AbortSignal.any([signal, held.over.signal]), 0);
    } catch (err) {
      log.error({ err }, 'an answer could not be written');
      response.destroy();
    } finally {
      this.#leave(held);
    }
  }

  *#taken(body: Buffer, held: Held): Generator<Buffer> {
    for (const piece of piecesOf(body)) {
      held.takenAt = this.#monotonic();
      yield piece;
    }
  }

  async #room(size: number, { signal, log }: Reader): Promise<Held> {
    while (this.#held.size > 0 && this.#bytes + size > this.#options.bytes) {
      const victim = this.#slowest();
      if (victim) this.#cut(victim);
      else await this.#change(signal);
    }
    const now = this.#monotonic();
    const held = { size, begunAt: now, takenAt: now, over: new AbortController(), log };
    this.#held.add(held);
    this.#bytes += size;
    return held;
  }

  /** The one whose reader has taken nothing for longest, of those that have had their time. */
  #slowest(): Held | undefined {
    const latest = this.#monotonic() - this.#options.patienceMs;
    let slowest: Held | undefined;
    for (const held of this.#held) {
      if (held.begunAt > latest) break;
      if (!slowest || held.takenAt < slowest.takenAt) slowest = held;
    }
    return slowest;
  }

  #cut(held: Held): void {
    this.#leave(held);
    held.log.info('an answer was cut off: its reader is slow, and others need the room');
    held.over.abort();
  }

  #leave(held: Held): void {
    if (!this.#held.delete(held)) return;
    this.#bytes -= held.size;
    for (const look of this.#waiting) look();
  }

  /** Until one has left, or the oldest has had its time. */
  async #change(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const [oldest] = this.#held;
    const ms = (oldest?.begunAt ?? 0) + this.#options.patienceMs - this.#monotonic();
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
