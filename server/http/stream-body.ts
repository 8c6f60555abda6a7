// Writes an HTTP response body of unknown length, with backpressure and optional gzip compression.
import type { ServerResponse } from 'node:http';
import { constants, createGzip, type Gzip } from 'node:zlib';

/** Maximum number of buffered bytes before `write` waits for the reader. */
const HIGH_WATER = 1 << 20;

/**
 * Writer of a response body. `write` resolves when more may be written. After `break`, the client receives everything
 * that was written, and detects that the body is incomplete.
 */
export class StreamBody {
  readonly #response: ServerResponse;
  readonly #gzip: Gzip | undefined;
  readonly #stallMs: number;

  /** `stallMs`: time without progress after which the connection of the reader is closed. */
  constructor(response: ServerResponse, options: { readonly gzip: boolean; readonly stallMs: number }) {
    this.#response = response;
    this.#stallMs = options.stallMs;
    if (!options.gzip) return;
    const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: 1 << 16 });
    this.#gzip = gzip;
    gzip.on('data', (chunk: Buffer) => {
      if (!response.write(chunk)) gzip.pause();
    });
    response.on('drain', () => gzip.resume());
    response.on('close', () => gzip.destroy());
    // The reader disconnected.
    gzip.on('error', () => response.destroy());
  }

  get closed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  /** Rejects with GONE when the reader has disconnected or makes no progress. */
  async write(text: string | Buffer): Promise<void> {
    if (this.closed) throw GONE;
    if (text.length === 0) return;
    const target = this.#gzip ?? this.#response;
    // Queued strings would stay in the heap: 100 MB more after a million lines.
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    if (target.write(bytes) || target.writableLength < HIGH_WATER) return;
    await this.#drained(target);
  }

  async end(trailers: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.#finishGzip();
    if (this.closed) return;
    this.#response.addTrailers({ ...trailers });
    this.#closeWhenStalled();
    this.#response.end();
  }

  async break(): Promise<void> {
    await this.#finishGzip();
    if (this.closed) return;
    const { socket } = this.#response;
    // Flushes, then closes the connection before the end of the body.
    if (!socket) return void this.#response.destroy();
    this.#closeWhenStalled();
    socket.destroySoon();
  }

  /** Closes the connection if the reader does not read the rest within the stall timeout. */
  #closeWhenStalled(): void {
    const timer = setTimeout(() => this.#response.destroy(), this.#stallMs);
    this.#response.once('close', () => clearTimeout(timer));
  }

  async #finishGzip(): Promise<void> {
    const gzip = this.#gzip;
    if (!gzip || gzip.destroyed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    gzip.once('close', resolve).once('end', resolve);
    gzip.end();
    this.#closeWhenStalled();
    await promise;
  }

  #drained(target: Gzip | ServerResponse): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => {
        clearTimeout(timer);
        target.off('drain', drained);
        this.#response.off('close', closed);
        if (error) reject(error);
        else resolve();
      };
      const drained = (): void => settle();
      const closed = (): void => settle(GONE);
      const timer = setTimeout(() => {
        settle(GONE);
        this.#response.destroy();
      }, this.#stallMs);
      target.on('drain', drained);
      this.#response.on('close', closed);
    });
  }
}

/** The reader has disconnected. */
export const GONE = new DOMException('the reader has disconnected', 'AbortError');

/** Returns the headers of a stream that proxies and browsers must neither cache nor buffer. */
export function streamHeaders(contentType: string) {
  return {
    'Content-Type': contentType,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    // Disables buffering in proxies.
    'X-Accel-Buffering': 'no',
    Vary: 'Accept, Origin',
  };
}
