import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { JSON_HEADERS } from '../response.ts';

// Where the events of one watcher go: a body in chunks, or a WebSocket. Each is a line of JSON, whatever carries it.

export interface WatchOutput {
  /** Sends the headers at once: clients wait for them, and events may be long in coming. */
  open(): void;
  /** The headers are out: what fails now cannot be answered any more. */
  readonly opened: boolean;
  /** False while the reader is behind; then `onDrain` tells when it is not any more. */
  readonly ready: boolean;
  /** Bytes that wait for the reader. */
  readonly waiting: number;
  readonly closed: boolean;
  /** One event, most likely one that other watchers get too. */
  write(line: Buffer): void;
  /**
   * Events for this watcher alone, at least one, each in parts that are `size` bytes all together. `left` is called when
   * they and all before them have left, or never will.
   */
  writeBatch(events: readonly (readonly Buffer[])[], size: number, left: () => void): void;
  /** Calls `listener` each time all that was written has left. Returns the function that ends it. */
  onDrain(listener: () => void): () => void;
  /** The stream is complete. */
  end(): void;
  /** The reader is not worth waiting for. */
  cut(): void;
}

export interface OutputObserver {
  sent(events: number, bytes: number): void;
}

/** Bytes that may wait in a socket before events are held back. */
export const HIGH_WATER = 256 * 1024;

// The socket of one watcher: lines go out as chunks of HTTP/1.1, and a reader that does not keep up is noticed here.
const CRLF = Buffer.from('\r\n');

function chunkHead(length: number): Buffer {
  return Buffer.from(`${length.toString(16)}\r\n`);
}

/** Lines in chunked transfer coding; the last one is kept, since one event goes to all watchers one after another. */
export class ChunkEncoder {
  #line: Buffer | undefined;
  #chunk: Buffer = Buffer.alloc(0);

  encode(line: Buffer): Buffer {
    if (line !== this.#line) {
      this.#chunk = Buffer.concat([chunkHead(line.length), line, CRLF]);
      this.#line = line;
    }
    return this.#chunk;
  }
}

/**
 * Bypasses ServerResponse and writes to its socket, so that no work is repeated for each watcher.
 * The response writes the headers and the last chunk.
 */
export class ChunkedOutput implements WatchOutput {
  readonly #response: ServerResponse;
  readonly #chunks: ChunkEncoder;
  readonly #observer: OutputObserver | undefined;
  #socket: Socket | null = null;

  /** All watchers of a resource share `chunks`. */
  constructor(response: ServerResponse, chunks: ChunkEncoder, observer?: OutputObserver) {
    this.#response = response;
    this.#chunks = chunks;
    this.#observer = observer;
  }

  open(): void {
    this.#response.writeHead(200, JSON_HEADERS);
    this.#response.flushHeaders();
    this.#socket = this.#response.chunkedEncoding ? this.#response.socket : null;
  }

  get opened(): boolean {
    return this.#response.headersSent;
  }

  get ready(): boolean {
    return this.waiting < HIGH_WATER;
  }

  get waiting(): number {
    return (this.#socket ?? this.#response).writableLength;
  }

  get closed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded || (this.#socket?.destroyed ?? false);
  }

  write(line: Buffer): void {
    if (this.closed) return;
    if (this.#socket) this.#socket.write(this.#chunks.encode(line));
    else this.#response.write(line);
    this.#observer?.sent(1, line.length);
  }

  writeBatch(events: readonly (readonly Buffer[])[], size: number, left: () => void): void {
    if (this.closed) {
      left();
      return;
    }
    const parts = events.flat();
    if (this.#socket) this.#socket.write(Buffer.concat([chunkHead(size), ...parts, CRLF]), left);
    else this.#response.write(Buffer.concat(parts, size), left);
    this.#observer?.sent(events.length, size);
  }

  onDrain(listener: () => void): () => void {
    const source = this.#socket ?? this.#response;
    source.on('drain', listener);
    return () => {
      source.off('drain', listener);
    };
  }

  /** The connection may serve another request. */
  end(): void {
    if (this.#response.headersSent && !this.closed) this.#response.end();
  }

  cut(): void {
    this.#response.destroy();
  }
}
