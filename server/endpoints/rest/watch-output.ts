// The socket of one watcher: frames go out as chunks of HTTP/1.1, and a reader that does not keep up is noticed here.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { JSON_HEADERS } from '../response.ts';

const CRLF = Buffer.from('\r\n');

function chunkHead(length: number): Buffer {
  return Buffer.from(`${length.toString(16)}\r\n`);
}

/** Chunked transfer coding; the last frame's chunk is kept, since one event goes to all watchers one after another. */
export class ChunkEncoder {
  #frame: Buffer | undefined;
  #chunk: Buffer = CRLF;

  encode(frame: Buffer): Buffer {
    if (frame !== this.#frame) {
      this.#chunk = Buffer.concat([chunkHead(frame.length), frame, CRLF]);
      this.#frame = frame;
    }
    return this.#chunk;
  }
}

export interface OutputObserver {
  sent(events: number, bytes: number): void;
}

/** Bytes that may wait in a socket before frames are held back. */
const HIGH_WATER = 256 * 1024;

/**
 * Bypasses ServerResponse and writes to its socket, so that no work is repeated for each watcher.
 * The response writes the headers and the last chunk.
 */
export class WatchOutput {
  readonly #response: ServerResponse;
  readonly #chunks: ChunkEncoder;
  readonly #observer: OutputObserver | undefined;
  #socket: Socket | null = null;

  constructor(response: ServerResponse, chunks: ChunkEncoder, observer?: OutputObserver) {
    this.#response = response;
    this.#chunks = chunks;
    this.#observer = observer;
  }

  /** Sends the headers at once: clients wait for them, and events may be long in coming. */
  open(): void {
    this.#response.writeHead(200, JSON_HEADERS);
    this.#response.flushHeaders();
    this.#socket = this.#response.chunkedEncoding ? this.#response.socket : null;
  }

  /** False while the reader is behind; then `onDrain` tells when it is not any more. */
  get ready(): boolean {
    return this.waiting < HIGH_WATER;
  }

  /** Bytes that wait for the reader. */
  get waiting(): number {
    return (this.#socket ?? this.#response).writableLength;
  }

  get closed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded || (this.#socket?.destroyed ?? false);
  }

  /** One event, most likely one that other watchers get too. */
  write(frame: Buffer): void {
    if (this.closed) return;
    if (this.#socket) this.#socket.write(this.#chunks.encode(frame));
    else this.#response.write(frame);
    this.#observer?.sent(1, frame.length);
  }

  /**
   * Many events for this watcher alone, in parts that add up to `size` bytes. `left` is called when they and all before
   * them have left, or never will.
   */
  writeBatch(parts: readonly Buffer[], size: number, events: number, left: () => void): void {
    if (this.closed) {
      left();
      return;
    }
    if (this.#socket) this.#socket.write(Buffer.concat([chunkHead(size), ...parts, CRLF]), left);
    else this.#response.write(Buffer.concat(parts), left);
    this.#observer?.sent(events, size);
  }

  /** Calls `listener` each time all that was written has left. Returns the function that ends it. */
  onDrain(listener: () => void): () => void {
    const source = this.#socket ?? this.#response;
    source.on('drain', listener);
    return () => {
      source.off('drain', listener);
    };
  }

  /** The stream is complete; the connection may serve another request. */
  end(): void {
    if (this.#response.headersSent && !this.closed) this.#response.end();
  }

  /** The reader is not worth waiting for. */
  cut(): void {
    this.#response.destroy();
  }
}
