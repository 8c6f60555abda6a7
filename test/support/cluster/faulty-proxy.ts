// HTTP proxy that injects failures into responses.
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { closeNow, listenOnLoopback, portOf } from '../loopback.ts';

/** A failure that the proxy injects. */
export type Fault =
  /** The connection closes before the response. */
  | 'refuse'
  /** No response at all. */
  | 'hang'
  /** The connection closes within the response. */
  | 'cut'
  /** The response ends early, but normally. */
  | 'truncate'
  /** An HTML page, as from a proxy in between. */
  | 'garbage'
  /** Unrelated JSON. */
  | 'nonsense'
  | { readonly status: number }
  /** The request is forwarded after this time. */
  | { readonly delayMs: number }
  /** Transforms the text of the response. */
  | { readonly rewrite: (text: string, path: string) => string };

/** Part of each faulty response; tests check that no client receives it. */
export const STORE_SECRET = 'hunter2-at-10.9.8.7';

interface FaultyProxyOptions {
  /** TLS options for the target; the proxy itself serves plain HTTP. */
  readonly tls?: AgentOptions;
  /** Requests for other paths are forwarded and not counted. */
  readonly only?: (path: string) => boolean;
}

export class FaultyProxy {
  readonly #server: Server;
  readonly #target: URL;
  /** For targets behind TLS. */
  readonly #agent: HttpsAgent | undefined;
  #fault: Fault | undefined;
  #inFlight = 0;
  #idle: (() => void)[] = [];
  #arrived: (() => void)[] = [];

  readonly #only: (path: string) => boolean;

  private constructor(target: string, { tls, only = () => true }: FaultyProxyOptions) {
    this.#target = new URL(target);
    this.#agent = tls && new HttpsAgent({ ...tls, keepAlive: true });
    this.#only = only;
    this.#server = createServer((incoming, outgoing) => this.#serve(incoming, outgoing));
  }

  static async start(target: string, options: FaultyProxyOptions = {}): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target, options);
    await listenOnLoopback(proxy.#server);
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  /** Injects the failure into all further responses; undefined stops it. */
  break(fault: Fault | undefined): void {
    this.#fault = fault;
  }

  /** Closes all current connections. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  /** Resolves when no request is in flight. */
  async untilIdle(): Promise<void> {
    if (this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle.push(resolve);
    });
  }

  /** Resolves when a request is in flight. */
  async untilAsked(): Promise<void> {
    if (this.#inFlight > 0) return;
    await new Promise<void>((resolve) => {
      this.#arrived.push(resolve);
    });
  }

  async stop(): Promise<void> {
    await closeNow(this.#server);
    this.#agent?.destroy();
  }

  #serve(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (!this.#only(incoming.url ?? '/')) {
      this.#forward(undefined, incoming, outgoing);
      return;
    }
    this.#inFlight++;
    for (const tell of this.#arrived.splice(0)) tell();
    outgoing.on('close', () => {
      this.#inFlight--;
      if (this.#inFlight === 0) for (const tell of this.#idle.splice(0)) tell();
    });
    const fault = this.#fault;
    if (fault === 'refuse') incoming.socket.destroy();
    else if (fault === 'garbage') {
      outgoing.setHeader('content-type', 'text/html');
      outgoing.end(`<html><body>Welcome to ${STORE_SECRET}</body></html>`);
    } else if (fault === 'nonsense') {
      outgoing.setHeader('content-type', 'application/json');
      outgoing.end(`{"hello":"${STORE_SECRET}"}\n`);
    } else if (typeof fault === 'object' && 'status' in fault) {
      outgoing.writeHead(fault.status, { 'content-type': 'application/json' });
      outgoing.end(`{"error":{"type":"trouble","reason":"${STORE_SECRET}"},"status":${fault.status}}`);
    } else if (typeof fault === 'object' && 'delayMs' in fault) {
      setTimeout(() => {
        if (!outgoing.destroyed) this.#forward(undefined, incoming, outgoing);
      }, fault.delayMs);
    } else if (fault !== 'hang') this.#forward(fault, incoming, outgoing);
  }

  #forward(
    fault: Exclude<Fault, string> | 'cut' | 'truncate' | undefined,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): void {
    const path = incoming.url ?? '/';
    const { method = 'GET' } = incoming;
    // Responses to rewrite or truncate must not be compressed.
    const headers = { ...incoming.headers, host: this.#target.host, 'accept-encoding': 'identity' };
    const agent = this.#agent;
    const send = agent ? httpsRequest : httpRequest;
    const upstream = send(
      new URL(path, this.#target),
      { method, headers, ...(agent && { agent }) },
      (answer) => {
        const { 'content-length': _, ...rest } = answer.headers;
        if (fault === undefined) {
          outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
          outgoing.flushHeaders();
          answer.pipe(outgoing);
          return;
        }
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          const body = Buffer.concat(chunks);
          outgoing.writeHead(answer.statusCode ?? 502, rest);
          if (typeof fault === 'object') {
            outgoing.end('rewrite' in fault ? fault.rewrite(body.toString(), path) : body);
            return;
          }
          const half = body.subarray(0, middleOfLine(body));
          if (fault === 'truncate') outgoing.end(half);
          else outgoing.write(half, () => incoming.socket.destroy());
        });
      },
    );
    upstream.on('error', () => incoming.socket.destroy());
    outgoing.on('close', () => upstream.destroy());
    incoming.pipe(upstream);
  }
}

const NEWLINE = 0x0a;

/** About half; never directly before or after the end of a line. */
function middleOfLine(body: Buffer): number {
  let half = Math.floor(body.length / 2);
  while (half > 0 && (body[half] === NEWLINE || body[half - 1] === NEWLINE)) half--;
  return half;
}
