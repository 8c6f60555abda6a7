import type { IncomingMessage } from 'node:http';
import { StalledError } from '../../../../cluster/connection/response-body.ts';
import { release } from '../../../../memory/released.ts';

/** How much is gathered while the previous chunk is worked on; then the other side waits. */
const GATHERED = 64 << 10;
/** About the bytes of a chunk: a few milliseconds of work, so that few lines of it wait for a next turn. */
const CHUNK = 16 << 10;

/**
 * The bytes of an answer in memory that is released at once: a chunk is gone when the next one is asked for. Logs come as
 * fast as they are read, and tens of megabytes that are needed only briefly would otherwise wait for a full garbage
 * collection. Ends as streamedBody does, and throws what it throws.
 */
export async function* ownChunks(response: IncomingMessage, idleMs: number): AsyncGenerator<Buffer> {
  const pieces = new Pieces();
  let hasEnded = response.readableEnded;
  // Events that have already fired do not fire again.
  let failure = response.destroyed ? cut(response) : undefined;
  let news: PromiseWithResolvers<void> | undefined;
  // Nobody waits for the other side while a chunk is worked on.
  const timer = setTimeout(() => news && response.destroy((failure = new StalledError(idleMs))), idleMs);
  response.on('data', (piece: Buffer) => {
    pieces.push(piece);
    if (pieces.length >= GATHERED) response.pause();
    news?.resolve();
  });
  response.on('error', (error) => {
    failure ??= error;
    news?.resolve();
  });
  response.on('end', () => {
    hasEnded = true;
    news?.resolve();
  });
  response.on('close', () => {
    if (!hasEnded) failure ??= cut(response);
    news?.resolve();
  });
  let chunk: Buffer | undefined;
  try {
    for (;;) {
      if (pieces.length === 0 && failure) throw failure;
      if (pieces.length === 0 && hasEnded) return;
      if (pieces.length === 0) {
        news = Promise.withResolvers();
        timer.refresh();
        response.resume();
        await news.promise;
        news = undefined;
        continue;
      }
      chunk = pieces.take();
      yield chunk;
      release(chunk);
    }
  } finally {
    clearTimeout(timer);
    response.destroy();
    pieces.end();
    if (chunk) release(chunk);
  }
}

function cut({ errored }: IncomingMessage): Error {
  return errored ?? new Error('the response was truncated');
}

/** Pieces as they come: parts of what was read from the socket at a time. */
class Pieces {
  #pieces: Buffer[] = [];
  #last: Buffer | undefined;
  length = 0;

  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.length += piece.length;
  }

  /** The first ones, as many as make a chunk. */
  take(): Buffer {
    let [count, length] = [0, 0];
    while (length < CHUNK && count < this.#pieces.length) length += this.#pieces[count++]?.length ?? 0;
    const bytes = Buffer.allocUnsafeSlow(length);
    let end = 0;
    for (const piece of this.#pieces.splice(0, count)) {
      end += piece.copy(bytes, end);
      // Parts of one read follow each other: when there is one of the next, nothing more comes of the last.
      if (this.#last && this.#last.buffer !== piece.buffer) release(this.#last);
      this.#last = piece;
    }
    this.length -= length;
    return bytes;
  }

  /** No piece is taken any more. */
  end(): void {
    for (const piece of [this.#last, ...this.#pieces]) if (piece) release(piece);
    this.#last = undefined;
    this.#pieces = [];
  }
}
