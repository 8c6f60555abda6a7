// Exchange: one request with its response. It ends with the caller's signal, or when nothing arrives for a time, and
// leaves no timer, listener or connection behind.
import { ConnectionError } from './status-error.ts';

export class Exchange {
  /** Method and path, for errors. */
  readonly what: string;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #abort = (): void => this.#controller.abort(this.#outer?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(what: string, signal?: AbortSignal) {
    this.what = what;
    this.#outer = signal;
    if (signal?.aborted) this.#abort();
    signal?.addEventListener('abort', this.#abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Waits for a step of the exchange, at most `limit` milliseconds. */
  async step<T>(start: () => Promise<T>, limit?: number): Promise<T> {
    if (limit !== undefined) this.#timer = setTimeout(() => this.#expire(limit), limit);
    try {
      return await start();
    } catch (error) {
      throw this.#failure(error);
    } finally {
      clearTimeout(this.#timer);
    }
  }

  /** The body of a response as text. Ends the exchange. */
  async text(response: Response, limit?: number): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of this.chunks(response, limit)) text += decoder.decode(chunk, { stream: true });
    return text + decoder.decode();
  }

  /** The body of a response. Ends the exchange. Throws if nothing arrives for `limit` milliseconds. */
  async *chunks(response: Response, limit?: number): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = response.body?.getReader();
    try {
      if (reader === undefined) return;
      for (;;) {
        const { done, value } = await this.step(() => reader.read(), limit);
        if (done) return;
        yield value;
      }
    } finally {
      this.close();
    }
  }

  /** Ends the exchange, and cancels a response that is not complete. */
  close(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener('abort', this.#abort);
    this.#controller.abort();
  }

  #expire(limit: number): void {
    this.#controller.abort(
      new ConnectionError(`${this.what}: the server sent nothing for ${limit / 1000} s`),
    );
  }

  /** The reason of the caller to abort, or a ConnectionError. */
  #failure(error: unknown): unknown {
    if (this.signal.aborted) return this.signal.reason;
    return new ConnectionError(`${this.what}: the connection failed`, { cause: error });
  }
}
