// A server on a loopback port that answers as a test says, and keeps what it was asked.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { closeNow, listenOnLoopback, portOf } from '../loopback.ts';

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
    await listenOnLoopback(server);
    return scripted;
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${portOf(this.#server)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeNow(this.#server);
  }
}

/** The rows, one a line. */
export function rows(...values: readonly object[]): Answer {
  return (response) => {
    response.writeHead(200, { 'Content-Type': 'application/stream+json' });
    response.end(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  };
}
