// Writes the events of a watch as a chunked HTTP/1.1 body: one line of JSON per event. web-socket-output.ts writes
// the events to a WebSocket.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type BodyHeaders, JSON_HEADERS } from '../http/response-writer.ts';

export interface WatchOutput {
  /** Sends the headers without waiting for the first event, because clients wait for the headers. */
  open(): void;
  /** True after the headers are sent. Then an error can no longer be the response. */
  readonly opened: boolean;
  /** False while the queue is above HIGH_WATER, because the client is slow. `onDrain` reports an empty queue. */
  readonly ready: boolean;
  /** Number of queued bytes. */
  readonly waiting: number;
  readonly closed: boolean;
  /** Writes the line of one event. Its buffer can be shared with other watchers. */
  write(line: Buffer): void;
  /**
   * Writes one or more events for this watcher only. Each event is an array of parts; `size` is the total size in
   * bytes. Calls `left` when the events have left the queue, or when the output is closed.
   */
  writeBatch(events: readonly (readonly Buffer[])[], size: number, left: () => void): void;
  /** Calls `listener` each time the queue becomes empty. Returns the function that unsubscribes the listener. */
  onDrain(listener: () => void): () => void;
  /** Ends the stream normally. */
  end(): void;
  /** Terminates the connection. */
  terminate(): void;
}

export interface OutputObserver {
  sent(events: number, bytes: number): void;
}

/** Number of queued bytes above which the output is not ready for further events. */
export const HIGH_WATER = 256 * 1024;

const CRLF = Buffer.from('\r\n');

function chunkHead(length: number): Buffer {
  return Buffer.from(`${length.toString(16)}\r\n`);
}

/**
 * Encodes lines in chunked transfer coding. Caches the last chunk, because an event is sent to all watchers in turn.
 */
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
 * The output for a chunked HTTP/1.1 body. It writes shared chunks to the socket of the ServerResponse, so that a line
 * is not encoded for each watcher. The ServerResponse writes the headers and the last chunk.
 */
export class ChunkedOutput implements WatchOutput {
  readonly #response: ServerResponse;
  readonly #chunks: ChunkEncoder;
  readonly #observer: OutputObserver | undefined;
  readonly #headers: BodyHeaders;
  #socket: Socket | null = null;

  /** `chunks`: shared by all watchers of a resource. */
  constructor(
    response: ServerResponse,
    chunks: ChunkEncoder,
    observer?: OutputObserver,
    headers: BodyHeaders = JSON_HEADERS,
  ) {
    this.#headers = headers;
    this.#response = response;
    this.#chunks = chunks;
    this.#observer = observer;
  }

  open(): void {
    this.#response.writeHead(200, { ...this.#headers });
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

  /** Completes the body. The connection stays open for the next request. */
  end(): void {
    if (this.#response.headersSent && !this.closed) this.#response.end();
  }

  terminate(): void {
    this.#response.destroy();
  }
}
