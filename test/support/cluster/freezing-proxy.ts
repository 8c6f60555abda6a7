import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenOnLoopback, portOf } from '../loopback.ts';

/** TCP proxy that simulates network failures: stalled connections, broken connections and truncated streams. */
export class FreezingProxy {
  readonly #server: Server;
  #targetPort: number;
  readonly #pairs = new Set<readonly [client: Socket, upstream: Socket]>();
  #frozen = false;
  #cutAfter = Number.POSITIVE_INFINITY;
  #bytesPerSecond = Number.POSITIVE_INFINITY;
  private constructor(targetPort: number) {
    this.#targetPort = targetPort;
    this.#server = createServer({ allowHalfOpen: false }, (client) => this.#join(client, this.#targetPort));
  }

  static async start(targetPort: number): Promise<FreezingProxy> {
    const proxy = new FreezingProxy(targetPort);
    await listenOnLoopback(proxy.#server);
    return proxy;
  }

  get port(): number {
    return portOf(this.#server);
  }

  /** Stops the data of all current connections, which stay open. New connections work. */
  freeze(): void {
    for (const [client, upstream] of this.#pairs) {
      upstream.removeAllListeners('data').removeAllListeners('end').pause();
      client.removeAllListeners('data').pause();
    }
  }

  /** Accepts new connections without delivering data, until `thaw`. */
  freezeNew(): void {
    this.#frozen = true;
  }

  /** Resolves at the next connection. */
  async connected(): Promise<void> {
    await once(this.#server, 'connection');
  }

  thaw(): void {
    this.#frozen = false;
  }

  /** Closes each further connection after this number of bytes from the server. */
  cutAfter(bytes: number): void {
    this.#cutAfter = bytes;
  }

  /** Connects further connections to another port. */
  redirect(targetPort: number): void {
    this.#targetPort = targetPort;
  }

  /** Limits the throughput of further connections. */
  throttle(bytesPerSecond: number): void {
    this.#bytesPerSecond = bytesPerSecond;
  }

  cut(): void {
    for (const [client, upstream] of this.#pairs) {
      client.destroy();
      upstream.destroy();
    }
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #join(client: Socket, targetPort: number): void {
    const upstream = connect(targetPort, '127.0.0.1');
    const pair = [client, upstream] as const;
    this.#pairs.add(pair);
    const gone = () => {
      this.#pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of pair) socket.on('error', gone).on('close', gone);
    if (this.#frozen) return;
    let left = this.#cutAfter;
    const pace = this.#bytesPerSecond;
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => {
      left -= chunk.length;
      if (left <= 0) {
        gone();
        return;
      }
      client.write(chunk);
      if (pace === Number.POSITIVE_INFINITY) return;
      upstream.pause();
      setTimeout(() => upstream.resume(), (chunk.length / pace) * 1000);
    });
    upstream.on('end', () => client.end());
  }
}
