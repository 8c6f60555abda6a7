// The WebSocket of one watcher: each line is a text of its own, as from kube-apiserver. Java's fabric8 client watches no
// other way.
import { textHead } from '../websocket/frames.ts';
import type { Handshake } from '../websocket/handshake.ts';
import { WebSocketConnection } from '../websocket/web-socket.ts';
import { HIGH_WATER, LineEncoder, type OutputObserver, type WatchOutput } from './watch-output.ts';

export function newTextEncoder(): LineEncoder {
  return new LineEncoder((line) => Buffer.concat([textHead(line.length), line]));
}

export class WebSocketOutput implements WatchOutput {
  readonly #handshake: Handshake;
  readonly #texts: LineEncoder;
  readonly #observer: OutputObserver | undefined;
  #connection: WebSocketConnection | undefined;

  /** `texts`: one of `newTextEncoder` that all watchers of a resource share. */
  constructor(handshake: Handshake, texts: LineEncoder, observer?: OutputObserver) {
    this.#handshake = handshake;
    this.#texts = texts;
    this.#observer = observer;
  }

  open(): void {
    this.#connection = new WebSocketConnection(this.#handshake);
  }

  get opened(): boolean {
    return this.#connection !== undefined;
  }

  get ready(): boolean {
    return this.waiting < HIGH_WATER;
  }

  get waiting(): number {
    return this.#connection?.waiting ?? 0;
  }

  get closed(): boolean {
    return this.#connection?.closed ?? false;
  }

  write(line: Buffer): void {
    if (!this.#connection || this.closed) return;
    this.#connection.write(this.#texts.encode(line));
    this.#observer?.sent(1, line.length);
  }

  framed(parts: readonly Buffer[]): readonly Buffer[] {
    return [textHead(parts.reduce((sum, { length }) => sum + length, 0)), ...parts];
  }

  writeBatch(parts: readonly Buffer[], size: number, events: number, left: () => void): void {
    if (!this.#connection || this.closed) {
      left();
      return;
    }
    this.#connection.write(Buffer.concat(parts, size), left);
    this.#observer?.sent(events, size);
  }

  onDrain(listener: () => void): () => void {
    return this.#connection?.onDrain(listener) ?? (() => undefined);
  }

  end(): void {
    this.#connection?.close();
  }

  cut(): void {
    this.#connection?.cut();
  }
}
