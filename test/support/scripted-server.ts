// HTTP server whose responses a test scripts, for tests of clients.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { closeNow, listenOnLoopback, portOf } from './loopback.ts';

export type Script = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server for each test of a group. */
export function scriptedServer(): ScriptedServer {
  const server = new ScriptedServer();
  beforeEach(() => server.start());
  afterEach(() => server.stop());
  return server;
}

class ScriptedServer {
  #server: Server | undefined;
  #script: Script[] = [];
  /** Method and target of each request. */
  asked: string[] = [];
  /** Responses whose connection is open. */
  readonly open = new Set<ServerResponse>();

  /** Responds to the next requests, and with the last one to all further ones. */
  respond(...script: Script[]): void {
    this.#script = script;
  }

  get url(): string {
    if (this.#server === undefined) throw new Error('the server has not started');
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  async start(): Promise<void> {
    this.asked = [];
    this.#server = createServer((request, response) => {
      this.asked.push(`${request.method} ${request.url}`);
      this.open.add(response);
      response.on('close', () => this.open.delete(response));
      const [next, ...others] = this.#script;
      if (others.length > 0) this.#script = others;
      next?.(request, response);
    });
    await listenOnLoopback(this.#server);
  }

  async stop(): Promise<void> {
    if (this.#server !== undefined) await closeNow(this.#server);
  }
}

/** A response with JSON. */
export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Script {
  return (_request, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** A response with a body that stays open after these pieces, unless `ends`. */
export function pieces(parts: readonly (string | Uint8Array)[], { ends = false } = {}): Script {
  return (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const part of parts) response.write(part);
    if (ends) response.end();
  };
}
