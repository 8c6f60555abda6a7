// Writes the events of a watch as WebSocket messages, one per event, as in kube-apiserver. The Java client fabric8
// supports only WebSockets for watches.

import { type OpenWebSocket, openWebSocket } from '../http/web-socket.ts';
import type { RequestContext, Upgrade } from '../request/request-context.ts';
import { HIGH_WATER, type OutputObserver, type WatchOutput } from './watch-output.ts';

const TEXT = { binary: false };
const NORMAL = 1000;

export class WebSocketOutput implements WatchOutput {
  readonly #context: RequestContext;
  readonly #upgrade: Upgrade;
  readonly #observer: OutputObserver | undefined;
  #isOpened = false;
  #open: OpenWebSocket | undefined;

  constructor(context: RequestContext, upgrade: Upgrade, observer?: OutputObserver) {
    this.#context = context;
    this.#upgrade = upgrade;
    this.#observer = observer;
  }

  open(): void {
    this.#isOpened = true;
    this.#open = openWebSocket(this.#context, this.#upgrade);
  }

  get opened(): boolean {
    return this.#isOpened;
  }

  get ready(): boolean {
    return this.waiting < HIGH_WATER;
  }

  get waiting(): number {
    return this.#open?.webSocket.bufferedAmount ?? 0;
  }

  get closed(): boolean {
    if (!this.#open) return this.#isOpened;
    const { readyState, OPEN } = this.#open.webSocket;
    return readyState !== OPEN;
  }

  write(line: Buffer): void {
    if (!this.#open || this.closed) return;
    this.#open.webSocket.send(line, TEXT);
    this.#observer?.sent(1, line.length);
  }

  writeBatch(events: readonly (readonly Buffer[])[], size: number, left: () => void): void {
    if (!this.#open || this.closed) {
      left();
      return;
    }
    const { webSocket, socket } = this.#open;
    socket.cork();
    for (const [index, parts] of events.entries()) {
      const isLast = index === events.length - 1;
      webSocket.send(Buffer.concat(parts), TEXT, isLast ? left : undefined);
    }
    socket.uncork();
    this.#observer?.sent(events.length, size);
  }

  onDrain(listener: () => void): () => void {
    const socket = this.#open?.socket;
    socket?.on('drain', listener);
    return () => {
      socket?.off('drain', listener);
    };
  }

  /** Closes the WebSocket after the queued messages. The library terminates a client that does not respond. */
  end(): void {
    this.#open?.webSocket.close(NORMAL);
  }

  terminate(): void {
    this.#open?.webSocket.terminate();
  }
}
