// An HTTP proxy for the connections of a browser, which a test can cut and restore.
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { listenOnLoopback } from '../../support/loopback.ts';

export class CuttableProxy implements Disposable {
  readonly #server = createServer();
  readonly #open = new Set<Socket>();
  #isCut = false;
  url = '';

  static async start(): Promise<CuttableProxy> {
    const proxy = new CuttableProxy();
    proxy.#server.on('connect', ({ url = '' }, client: Socket) => proxy.#tunnel(url, client));
    proxy.url = `http://127.0.0.1:${await listenOnLoopback(proxy.#server)}`;
    return proxy;
  }

  #tunnel(target: string, client: Socket): void {
    client.on('error', () => client.destroy());
    if (this.#isCut) {
      client.destroy();
      return;
    }
    const { hostname, port } = new URL(`tcp://${target}`);
    const server = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      pipeline(client, server, client, () => undefined);
    });
    server.on('error', () => client.destroy());
    this.#open.add(client);
    client.once('close', () => this.#open.delete(client));
  }

  /** Ends all connections, and rejects new ones. */
  cut(): void {
    this.#isCut = true;
    for (const client of this.#open) client.destroy();
  }

  restore(): void {
    this.#isCut = false;
  }

  [Symbol.dispose](): void {
    this.cut();
    this.#server.close();
  }
}
