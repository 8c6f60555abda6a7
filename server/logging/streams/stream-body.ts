import type { ServerResponse } from 'node:http';
import { constants, createGzip, type Gzip } from 'node:zlib';
import { release } from '../../memory/released.ts';

/** Bytes that may wait for the reader before more is made. */
const HIGH_WATER = 1 << 20;

/**
 * A body without a known length, at the pace of its reader: `write` resolves when more may be written. It ends whole,
 * or `break`s: then what was written still arrives, but the client sees that the answer did not come to its end.
 */
export class StreamBody {
  readonly #response: ServerResponse;
  readonly #gzip: Gzip | undefined;
  readonly #stallMs: number;

  /** `stallMs`: how long a reader may take nothing before it is cut off. */
  constructor(response: ServerResponse, options: { readonly gzip: boolean; readonly stallMs: number }) {
    this.#response = response;
    this.#stallMs = options.stallMs;
    if (!options.gzip) return;
    // Speed before size: lines are made as fast as the store gives them.
    const gzip = createGzip({ level: constants.Z_BEST_SPEED, chunkSize: 1 << 16 });
    this.#gzip = gzip;
    gzip.on('data', (chunk: Buffer) => {
      if (!response.write(chunk)) gzip.pause();
    });
    response.on('drain', () => gzip.resume());
    response.on('close', () => gzip.destroy());
    // A reader that left in the middle.
    gzip.on('error', () => response.destroy());
  }

  get closed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  /** Rejects when the reader is gone, or takes nothing for too long. */
  async write(text: string | Buffer): Promise<void> {
    if (this.closed) throw GONE;
    if (text.length === 0) return;
    const target = this.#gzip ?? this.#response;
    if (written(target, text) || target.writableLength < HIGH_WATER) return;
    await this.#drained(target);
  }

  async end(trailers: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.#finishGzip();
    if (this.closed) return;
    this.#response.addTrailers({ ...trailers });
    this.#cutWhenStalled();
    this.#response.end();
  }

  async break(): Promise<void> {
    await this.#finishGzip();
    if (this.closed) return;
    const { socket } = this.#response;
    // Everything that was written, then the end of the connection; never the end of the body.
    if (!socket) return void this.#response.destroy();
    this.#cutWhenStalled();
    socket.destroySoon();
  }

  /** Cuts off a reader that does not take even the end. */
  #cutWhenStalled(): void {
    const timer = setTimeout(() => this.#response.destroy(), this.#stallMs);
    this.#response.once('close', () => clearTimeout(timer));
  }

  async #finishGzip(): Promise<void> {
    const gzip = this.#gzip;
    if (!gzip || gzip.destroyed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    gzip.once('close', resolve).once('end', resolve);
    gzip.end();
    this.#cutWhenStalled();
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

/** Bytes of a text that is written as it is. */
const SHORT = 4 << 10;

/**
 * False when more should wait. A long text goes as bytes that are given back once they are written: as a string it would
 * wait for its reader among what is kept for long, and 300,000 lines left 50 MB of garbage there.
 */
function written(target: Gzip | ServerResponse, text: string | Buffer): boolean {
  if (typeof text !== 'string' || text.length < SHORT) return target.write(text);
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return target.write(bytes, (error) => {
    // After a failure somebody may still be at it.
    if (!error) release(bytes);
  });
}

/** What `write` rejects with when nobody reads any more. */
export const GONE = new DOMException('the reader has gone', 'AbortError');
