// Raw connections of hostile clients, which send bytes and read nothing, or repeat a request for ever.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';

interface FloodTarget {
  readonly port: number;
  readonly ca: string;
  /** Loopback address of the client, so that networks differ. */
  readonly localAddress: string;
}

/** Connections that are opened at a time. */
const OPENING = 32;

/** A set of connections that ends together. A closed connection is opened again. */
export class RawFlood implements AsyncDisposable {
  readonly #target: FloodTarget;
  readonly #end = new AbortController();
  readonly #running: Promise<void>[] = [];
  /** Status codes of the responses that were read. */
  readonly statuses = new Map<number, number>();

  constructor(target: FloodTarget) {
    this.#target = target;
  }

  /** Opens connections that send `bytes` once and read nothing. */
  unread(connections: number, bytes: (connection: number) => string): Promise<this> {
    return this.#keepAll(connections, (socket, i) => void socket.pause().write(bytes(i)));
  }

  /** Opens connections that send `bytes` once, and read the responses. */
  read(connections: number, bytes: (connection: number) => string): Promise<this> {
    return this.#keepAll(connections, (socket, i) => void socket.resume().write(bytes(i)));
  }

  async #keepAll(connections: number, begin: (socket: TLSSocket, connection: number) => void): Promise<this> {
    const queue = Array.from({ length: connections }).entries();
    const open = async (): Promise<void> => {
      for (const [connection] of queue) await this.#keep(connection, begin);
    };
    await Promise.all(Array.from({ length: OPENING }, open));
    return this;
  }

  /** Opens connections that repeat a request when its response begins. `pipelined`: requests in flight per connection. */
  async repeat(connections: number, bytes: (connection: number) => string, pipelined = 1): Promise<this> {
    for (let i = 0; i < connections; i++) this.#running.push(this.#repeated(i, bytes, pipelined));
    await delay(200);
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await Promise.all(this.#running);
  }

  async #open(): Promise<TLSSocket | undefined> {
    const { port, ca, localAddress } = this.#target;
    const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost', ...{ localAddress } });
    socket.on('error', () => socket.destroy());
    const stop = (): void => void socket.destroy();
    this.#end.signal.addEventListener('abort', stop, { once: true });
    socket.once('close', () => this.#end.signal.removeEventListener('abort', stop));
    const closed = once(socket, 'close').then(
      () => undefined,
      () => undefined,
    );
    return Promise.race([
      once(socket, 'secureConnect').then(
        () => socket,
        () => undefined,
      ),
      closed,
    ]);
  }

  /** Resolves when the first bytes are sent. */
  async #keep(connection: number, begin: (socket: TLSSocket, connection: number) => void): Promise<void> {
    const socket = await this.#open();
    if (!socket) return;
    begin(socket, connection);
    this.#running.push(
      once(socket, 'close').then(async () => {
        if (this.#end.signal.aborted) return;
        await delay(50);
        await this.#keep(connection, begin);
      }),
    );
  }

  async #repeated(
    connection: number,
    bytes: (connection: number) => string,
    pipelined: number,
  ): Promise<void> {
    while (!this.#end.signal.aborted) {
      const socket = await this.#open();
      if (!socket) {
        await delay(50);
        continue;
      }
      socket.on('data', (chunk: Buffer) => {
        for (const [, status] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g)) {
          this.statuses.set(Number(status), (this.statuses.get(Number(status)) ?? 0) + 1);
          if (!socket.destroyed) socket.write(bytes(connection));
        }
      });
      for (let i = 0; i < pipelined; i++) socket.write(bytes(connection));
      await once(socket, 'close');
      await delay(20);
    }
  }
}
