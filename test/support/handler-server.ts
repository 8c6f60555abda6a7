// HTTP server for tests of one handler, without the filter chain. Errors are written as Status objects.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { pino } from 'pino';
import { newInternalError, newPathNotFound, StatusError } from '../../apis/meta/v1/errors.ts';
import { record } from '../../apis/reading/unknown-value.ts';
import { ANONYMOUS } from '../../server/authentication/user.ts';
import type { Handler, RequestContext } from '../../server/request/request-context.ts';
import { parseRequestInfo } from '../../server/request/request-info.ts';
import { closeNow, listenOnLoopback, portOf } from './loopback.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The handler of the path of a request. */
export function byPath(handlers: ReadonlyMap<string, Handler>): Handler {
  return (context) => {
    const handler = handlers.get(context.info.path);
    if (!handler) throw newPathNotFound();
    return handler(context);
  };
}

/** Starts a server for a group of tests. Fails if the handler has thrown an error that is not a StatusError. */
export function servedHandler(handler: Handler): HandlerServer {
  const server = new HandlerServer(handler);
  before(() => server.start());
  after(async () => {
    await server.close();
    if (server.lastError !== undefined) throw server.lastError;
  });
  return server;
}

/** The received part of a body. `error`: why the connection closed before the end. */
export async function receivedBody(incoming: IncomingMessage) {
  const chunks: Buffer[] = [];
  let error: unknown;
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch (caught) {
    error = caught;
  }
  return { body: Buffer.concat(chunks), error };
}

export class HandlerServer {
  readonly #server: Server;
  readonly #stop = new AbortController();
  /** Lines of the log. */
  readonly lines: string[] = [];
  readonly #log = pino({ level: 'debug' }, { write: (line: string) => void this.lines.push(line) });
  /** The last error of the handler that was not a StatusError. */
  lastError: unknown;

  /** With `tls`, serves over TLS; `open` and `ask` support only plain HTTP. */
  constructor(handler: Handler, tls?: { readonly cert: string; readonly key: string }) {
    const listener = (incoming: IncomingMessage, response: ServerResponse): void => {
      void this.#serve(handler, incoming, response);
    };
    this.#server = tls ? createSecureServer({ ...tls }, listener) : createServer(listener);
  }

  get port(): number {
    return portOf(this.#server);
  }

  async start(port = 0): Promise<this> {
    await listenOnLoopback(this.#server, port);
    return this;
  }

  /** Aborts the shutdown signal of the handlers. */
  abort(): void {
    this.#stop.abort();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await closeNow(this.#server);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Resolves with the response headers; the caller reads the body. */
  async open(path: string, options: AskOptions = {}): Promise<IncomingMessage> {
    const { method = 'GET', headers = {} } = options;
    const outgoing = request({ host: '127.0.0.1', port: this.port, path, method, headers, agent: false });
    outgoing.end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    return incoming;
  }

  async ask(path: string, options: AskOptions = {}): Promise<Answer> {
    const incoming = await this.open(path, options);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(chunks) };
  }

  async json(path: string, options: AskOptions = {}): Promise<Readonly<Record<string, unknown>>> {
    return record(JSON.parse((await this.ask(path, options)).body.toString()));
  }

  async #serve(handler: Handler, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await handler(this.#context(incoming, response));
    } catch (error) {
      if (!(error instanceof StatusError)) this.lastError = error;
      const status = (error instanceof StatusError ? error : newInternalError(error)).toStatus();
      if (response.headersSent) response.destroy();
      else
        response
          .writeHead(status.code, { 'Content-Type': 'application/json' })
          .end(`${JSON.stringify(status)}\n`);
    }
  }

  #context(incoming: IncomingMessage, response: ServerResponse): RequestContext {
    const target = incoming.url ?? '/';
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    return {
      request: incoming,
      response,
      query: new URL(target, 'http://localhost').searchParams,
      auditID: 'test',
      secure: false,
      receivedAt: 0,
      startedAt: performance.now(),
      log: this.#log,
      signal: AbortSignal.any([this.#stop.signal, gone.signal]),
      info: parseRequestInfo(incoming.method ?? 'GET', target),
      user: ANONYMOUS,
      caller: 'test',
      upgrade: undefined,
    };
  }
}
