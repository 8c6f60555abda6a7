// A page of another origin with the examples of docs/consoles.md.
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { listenOnLoopback, portOf } from '../../support/loopback.ts';

const DOCUMENT = join(import.meta.dirname, '../../../docs/consoles.md');
const SCRIPT = /^```js\n(.*?)^```$/ms;

/** The examples of the document, by their headings. */
export async function consoleExamples(): Promise<ReadonlyMap<string, string>> {
  const [, ...sections] = (await readFile(DOCUMENT, 'utf8')).split(/^### /m);
  return new Map(
    sections.map((section) => [section.split('\n', 1)[0] ?? '', SCRIPT.exec(section)?.[1] ?? '']),
  );
}

/** A module with the first script of the document, and a function for each example. `shown`: what the examples have shown. */
async function consoleModule(server: string, pod: string): Promise<string> {
  const [, setup = ''] = SCRIPT.exec(await readFile(DOCUMENT, 'utf8')) ?? [];
  const functions = [...(await consoleExamples())].map(
    ([name, body]) => `${JSON.stringify(name)}: async (show, signal) => {\n${body}\n}`,
  );
  return `${setup}
    globalThis.shown = [];
    const show = (...values) => { shown.push(values); };
    const examples = {\n${functions.join(',\n')}\n};
    Object.assign(globalThis, { client, session, server, run: (name, signal) => examples[name](show, signal) });
  `
    .replaceAll('https://platform.example.com', server)
    .replaceAll('cart-0', pod);
}

/** Serves an empty page with the examples. */
export class ConsoleSite {
  readonly #server: Server;
  /** URL of the server that the examples use. */
  server = '';
  /** A running pod in the namespace `shop`. */
  pod = '';

  private constructor() {
    this.#server = createServer((request, response) => {
      const isScript = request.url === '/console.js';
      response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
      if (!isScript)
        return void response.end('<!doctype html><script type="module" src="/console.js"></script>');
      return void consoleModule(this.server, this.pod).then((script) => response.end(script));
    });
  }

  static async start(): Promise<ConsoleSite> {
    const site = new ConsoleSite();
    await listenOnLoopback(site.#server);
    return site;
  }

  get origin(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
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
