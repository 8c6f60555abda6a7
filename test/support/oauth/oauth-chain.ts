// Test server with the real filter chain of the authorization server. The test provides the handlers by request path.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { Handler } from '../../../server/request/request-context.ts';
import { closeNow, listenOnLoopback, portOf } from '../loopback.ts';
import { openChain } from '../open-chain.ts';

const FORM = 'application/x-www-form-urlencoded';

export interface OAuthResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly json: Readonly<Record<string, unknown>>;
}

export class OAuthChain {
  readonly #stop = new AbortController();
  readonly #server: Server;

  constructor(handlers: ReadonlyMap<string, Handler>, maxMutating = 0) {
    const chain = openChain({ handlers, maxMutating, signal: this.#stop.signal });
    this.#server = createServer((incoming, response) => chain.serve(incoming, response, true));
  }

  async start(): Promise<this> {
    await listenOnLoopback(this.#server);
    return this;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await closeNow(this.#server);
  }

  post(
    path: string,
    form: Readonly<Record<string, string>> | string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<OAuthResponse> {
    const body = typeof form === 'string' ? form : new URLSearchParams(form).toString();
    return this.ask('POST', path, { 'content-type': FORM, ...headers }, body);
  }

  async ask(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body = '',
  ): Promise<OAuthResponse> {
    const port = portOf(this.#server);
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
    // A server that rejects a body may close the connection before it has read all of it.
    outgoing.on('error', () => undefined);
    outgoing.end(body);
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of incoming) text += String(chunk);
    const json = (text === '' ? {} : JSON.parse(text)) as Readonly<Record<string, unknown>>;
    return { status: incoming.statusCode ?? 0, headers: incoming.headers, json };
  }
}
