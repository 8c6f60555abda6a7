// One WebSocket on which only the server has something to say. Owns the closing handshake and the answers to pings; what
// messages are is its user's business.
import type { Duplex } from 'node:stream';
import { type CloseCode, closeFrame, FrameReader, pongFrame } from './frames.ts';
import { completeHandshake, type Handshake } from './handshake.ts';

/** How long a client may take to read what is left and to close its side. */
const CLOSE_TIMEOUT_MS = 30_000;
/** Bytes that may wait for a client whose pings are still answered: who takes nothing gets no more of them. */
const MAX_WAITING = 64 * 1024;

export class WebSocketConnection {
  readonly #socket: Duplex;
  readonly #frames = new FrameReader();

  /** Answers the handshake. */
  constructor(handshake: Handshake) {
    this.#socket = completeHandshake(handshake);
    this.#socket.on('data', (data: Buffer) => this.#read(data));
    this.#socket.on('end', () => this.close());
    this.#read(handshake.upgrade.head);
  }

  /** Bytes that wait for the client. */
  get waiting(): number {
    return this.#socket.writableLength;
  }

  /** Nothing more can be sent. */
  get closed(): boolean {
    return this.#socket.destroyed || this.#socket.writableEnded;
  }

  /** Whole frames. `left` is called when they have left, or never will. */
  write(frames: Buffer, left?: () => void): void {
    this.#socket.write(frames, left);
  }

  /** Returns the function that ends it. */
  onDrain(listener: () => void): () => void {
    this.#socket.on('drain', listener);
    return () => {
      this.#socket.off('drain', listener);
    };
  }

  /** Behind what was written; a client that does not close its side is cut off. */
  close(code: CloseCode = 1000): void {
    if (this.closed) return;
    this.#socket.end(closeFrame(code));
    const timer = setTimeout(() => this.cut(), CLOSE_TIMEOUT_MS);
    this.#socket.once('close', () => clearTimeout(timer));
  }

  cut(): void {
    this.#socket.destroy();
  }

  #read(data: Buffer): void {
    if (this.closed) return;
    try {
      for (const { kind, payload } of this.#frames.read(data)) {
        if (kind === 'close') this.close();
        else if (kind === 'ping' && this.waiting < MAX_WAITING) this.write(pongFrame(payload));
        if (this.closed) return;
      }
    } catch {
      this.close(1002);
    }
  }
}
