// A server on a loopback port that answers as a test says, and keeps what it was asked.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Asked {
  readonly path: string;
  readonly form: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

export type Answer = (response: ServerResponse, asked: Asked) => void;

export class ScriptedVictoriaLogs implements AsyncDisposable {
  readonly asked: Asked[] = [];
  readonly #server: ReturnType<typeof createServer>;
  readonly #scheme: string;

  private constructor(server: ReturnType<typeof createServer>, scheme: string) {
    this.#server = server;
    this.#scheme = scheme;
  }

  static async start(answer: Answer, tls?: { readonly cert: string; readonly key: string }) {
    const server = tls ? createSecureServer(tls) : createServer();
    const scripted = new ScriptedVictoriaLogs(server, tls ? 'https' : 'http');
    server.on('request', (request, response: ServerResponse) => {
      void text(request).then((body) => {
        const { url: path = '', headers } = request;
        const asked = { path, headers, form: new URLSearchParams(body) };
        scripted.asked.push(asked);
        answer(response, asked);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return scripted;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `${this.#scheme}://127.0.0.1:${port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** The rows, one a line. */
export function rows(...values: readonly object[]): Answer {
  return (response) => {
    response.writeHead(200, { 'Content-Type': 'application/stream+json' });
    response.end(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  };
}
