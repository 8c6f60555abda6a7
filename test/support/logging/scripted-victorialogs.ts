// Fake VictoriaLogs that records requests and returns prepared responses.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { text } from 'node:stream/consumers';
import { closeNow, listenOnLoopback, portOf } from '../loopback.ts';

interface ReceivedRequest {
  readonly path: string;
  readonly form: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

export type Responder = (response: ServerResponse, request: ReceivedRequest) => void;

export class ScriptedVictoriaLogs implements AsyncDisposable {
  readonly requests: ReceivedRequest[] = [];
  readonly #server: ReturnType<typeof createServer>;
  readonly #scheme: string;

  private constructor(server: ReturnType<typeof createServer>, scheme: string) {
    this.#server = server;
    this.#scheme = scheme;
  }

  static async start(respond: Responder, tls?: { readonly cert: string; readonly key: string }) {
    const server = tls ? createSecureServer(tls) : createServer();
    const scripted = new ScriptedVictoriaLogs(server, tls ? 'https' : 'http');
    server.on('request', (incoming, response: ServerResponse) => {
      void text(incoming).then((body) => {
        const { url: path = '', headers } = incoming;
        const request = { path, headers, form: new URLSearchParams(body) };
        scripted.requests.push(request);
        respond(response, request);
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

/** Responds with the rows as JSON lines. */
export function rows(...values: readonly object[]): Responder {
  return (response) => {
    response.writeHead(200, { 'Content-Type': 'application/stream+json' });
    response.end(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
  };
}
