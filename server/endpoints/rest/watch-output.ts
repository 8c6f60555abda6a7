// The transport of a watch: a chunked HTTP/1.1 body here, a WebSocket in web-socket-output.ts. Every event is one
// line of JSON.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { JSON_HEADERS } from '../response.ts';

export interface WatchOutput {
  /** Sends the headers immediately: clients wait for them, and the first event can be far away. */
  open(): void;
  /** True after the headers are sent; errors can no longer be a response. */
  readonly opened: boolean;
  /** False while the client is slow; `onDrain` reports the change. */
  readonly ready: boolean;
  /** Queued bytes. */
  readonly waiting: number;
  readonly closed: boolean;
  /** Writes one event, usually shared with other watchers. */
  write(line: Buffer): void;
  /**
   * Writes events of this watcher only, at least one, each in parts; `size` is their total. Calls `left` when they
   * have left the queue, or never will.
   */
  writeBatch(events: readonly (readonly Buffer[])[], size: number, left: () => void): void;
  /** Calls `listener` whenever the queue becomes empty. Returns the function that unsubscribes it. */
  onDrain(listener: () => void): () => void;
  /** Ends the stream normally. */
  end(): void;
  /** Terminates the connection. */
  terminate(): void;
}

export interface OutputObserver {
  sent(events: number, bytes: number): void;
}

/** Queued bytes above which events are held back. */
export const HIGH_WATER = 256 * 1024;

const CRLF = Buffer.from('\r\n');

function chunkHead(length: number): Buffer {
  return Buffer.from(`${length.toString(16)}\r\n`);
}

/** Encodes lines in chunked transfer coding and caches the last one, since one event goes to all watchers in turn. */
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
 * Writes to the socket of the ServerResponse, so that no work is repeated per watcher. The response writes the
 * headers and the last chunk.
 */
export class ChunkedOutput implements WatchOutput {
  readonly #response: ServerResponse;
  readonly #chunks: ChunkEncoder;
  readonly #observer: OutputObserver | undefined;
  #socket: Socket | null = null;

  /** `chunks`: shared by all watchers of a resource. */
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

  /** The connection stays usable for the next request. */
  end(): void {
    if (this.#response.headersSent && !this.closed) this.#response.end();
  }

  terminate(): void {
    this.#response.destroy();
  }
}
