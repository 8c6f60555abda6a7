// A page of another origin with the example programs of the documents.
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { listenOnLoopback } from '../../support/loopback.ts';

const DOCUMENTS = ['consoles.md', 'resource-lists.md'].map((name) =>
  join(import.meta.dirname, '../../../docs', name),
);

/** The programs of the documents, as one script. */
async function programs(server: string): Promise<string> {
  const text = (await Promise.all(DOCUMENTS.map((path) => readFile(path, 'utf8')))).join('\n');
  const blocks = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, body = '']) => body);
  return blocks.join('\n').replace('https://platform.example.com', server);
}

/** Serves an empty page with the programs. */
export class ConsoleSite {
  readonly #server: Server;
  /** URL of the server that the programs use. */
  server = '';

  private constructor() {
    this.#server = createServer((request, response) => {
      const isScript = request.url === '/console.js';
      response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
      if (!isScript) return void response.end('<!doctype html><script src="/console.js"></script>');
      return void programs(this.server).then((script) => response.end(script));
    });
  }

  static async start(): Promise<ConsoleSite> {
    const site = new ConsoleSite();
    await listenOnLoopback(site.#server);
    return site;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The client in the configuration of the server. */
  get client(): object {
    const redirectURIs = [`${this.origin}/callback`];
    return { id: 'web', public: true, grants: ['authorization_code', 'refresh_token'], redirectURIs };
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
