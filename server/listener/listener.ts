// One listening socket and its connections: binding, bounds on slow or rude clients, refusing and closing. It owns
// nothing of what a request means: every well-formed request and upgrade goes to the filter chain.
// Neighbours: secure-listener.ts and insecure-listener.ts make one each, drain.ts stops them in order.
import type { Server as HttpServer, IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { closeGracefully } from '../request/graceful-close.ts';
import { listenFault } from './bind-fault.ts';
import { answerClientError, isPlainHttp } from './client-error.ts';
import { faultIn, MAX_HEADER_FIELDS } from './faulty-request.ts';
import type { ListenerMetrics } from './listener-metrics.ts';
import type { ListenerName } from './listener-name.ts';
import { areTooMany } from './pipelining.ts';
import { UnfinishedRequests } from './unfinished-requests.ts';

/** Sizes in bytes, times in milliseconds. */
export interface ListenerLimits {
  readonly connections: number;
  readonly headers: number;
  readonly handshakeTimeout: number;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
}

export interface RequestReceiver {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void;
  /** Requests for another protocol. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

export interface ListenerOptions {
  /** Empty for all addresses, of IPv6 too where there is any. */
  readonly address: string;
  readonly port: number;
  readonly limits: ListenerLimits;
  readonly receiver: RequestReceiver;
  readonly metrics: ListenerMetrics;
  readonly log: Logger;
}

/**
 * A client that waits to be asked for its body is asked when somebody reads it, and not at all where it is refused
 * unread. kube-apiserver's proxy, too, takes the 100 for the answer, and says 200 for whatever comes behind it.
 */
function inviteWhenRead(request: IncomingMessage, response: ServerResponse): void {
  // Node reads on what is left of a body behind the answer.
  request.once('resume', () => {
    if (!response.headersSent) response.writeContinue();
  });
}

export class Listener {
  readonly name: ListenerName;
  readonly #server: HttpServer | HttpsServer;
  readonly #options: ListenerOptions;
  /** TCP sockets, those still in a TLS handshake and upgraded ones included. */
  readonly #sockets = new Set<Socket>();
  /** What requests come from: the TLS socket above the TCP one. */
  readonly #streams = new Set<Duplex>();
  readonly #unfinished = new UnfinishedRequests();
  readonly #closed = Promise.withResolvers<void>();
  #keepsAlive = true;
  #stopping = false;

  constructor(name: ListenerName, server: HttpServer | HttpsServer, options: ListenerOptions) {
    this.name = name;
    this.#server = server;
    this.#options = options;
  }

  /** Binds. Throws StartupError, with the cure, when the address cannot be had. */
  async listen(): Promise<AddressInfo> {
    const { address, port, receiver } = this.#options;
    this.#configure();
    const receive = (request: IncomingMessage, response: ServerResponse): void => {
      if (!this.#track(request.socket, response)) return;
      // Node has read nothing of what came along with it, so what comes next may be half a request.
      if (asksForUpgrade(request)) response.shouldKeepAlive = false;
      const fault = faultIn(request);
      if (fault) this.#server.emit('clientError', fault, request.socket);
      else receiver.request(request, response);
    };
    this.#server.on('request', receive);
    // An expectation that we do not know may be ignored (RFC 9110 section 10.1.1); Node would refuse it by itself.
    this.#server.on('checkExpectation', receive);
    this.#server.on('checkContinue', (request, response) => {
      inviteWhenRead(request, response);
      receive(request, response);
    });
    const hand = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
      // Node listens no more, and an error that nobody hears ends the process.
      socket.on('error', () => socket.destroy());
      if (!this.#isFree(socket)) return;
      // It is no longer HTTP, so not ours to close when it is idle.
      this.#forget(socket);
      const fault = faultIn(request);
      if (fault) this.#server.emit('clientError', fault, socket);
      else receiver.upgrade(request, socket, head);
    };
    this.#server.on('upgrade', hand);
    // Without a listener Node would cut the connection without an answer.
    this.#server.on('connect', hand);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen({ port, ...(address === '' ? {} : { host: address }) }, resolve);
    try {
      await promise;
    } catch (error) {
      throw listenFault(error, this.name, address, port);
    }
    this.#server.off('error', reject);
    this.#server.on('error', (error) => this.#options.log.error({ err: error }, 'listener failed'));
    return this.address;
  }

  /** Where it listens; with the actual port when 0 was asked for. */
  get address(): AddressInfo {
    const address = this.#server.address();
    if (address === null || typeof address === 'string')
      throw new Error(`the ${this.name} listener is not bound`);
    return address;
  }

  /** Resolves when it was told to stop and the last connection is gone. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Connections that are open now. */
  get connections(): number {
    return this.#sockets.size;
  }

  /**
   * Sends `Connection: close` with every response from now on. Clients then close their connections themselves, before
   * `stopAccepting` closes those that are left.
   */
  endKeepAlive(): void {
    this.#keepsAlive = false;
    for (const stream of this.#streams) {
      for (const answer of answersOf(stream)) announceClose(answer);
    }
  }

  /** Closes the listening socket and idle connections; others close after the response in flight. */
  stopAccepting(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.endKeepAlive();
    if (!this.#server.listening) {
      this.#closed.resolve();
      return;
    }
    // close() would destroy idle connections, and reset one on which a request is arriving.
    this.#server.closeIdleConnections = () => undefined;
    this.#server.close(() => this.#closed.resolve());
    for (const stream of this.#streams) {
      if (answersOf(stream).length === 0) closeGracefully(stream);
    }
  }

  /** Cuts what is still open; returns how many connections that were. */
  destroyConnections(): number {
    const open = this.#sockets.size;
    for (const socket of this.#sockets) socket.destroy();
    return open;
  }

  #configure(): void {
    const { limits, metrics, log } = this.#options;
    const server = this.#server;
    // One more, so that too many can be told from as many as there may be.
    server.maxHeadersCount = MAX_HEADER_FIELDS + 1;
    server.maxConnections = limits.connections;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      metrics.opened(this.name);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        metrics.closed(this.name);
      });
    });
    server.on('drop', () => metrics.dropped(this.name));
    server.on('clientError', (error: Error, socket: Duplex) => {
      const underWay = answersOf(socket).some((answer) => answer.headersSent);
      const code = answerClientError(error, socket, underWay);
      if (code !== undefined) metrics.malformed(this.name, code);
      log.debug({ err: error, code }, 'request could not be read');
    });
    server.on('tlsClientError', (error: Error, socket: Socket) => {
      metrics.handshakeFailed();
      log.debug({ err: error, remoteAddress: socket.remoteAddress }, 'TLS handshake failed');
      // Node has closed the TLS of it by now; the socket below can still say what is wrong.
      const below = isPlainHttp(error) && [...this.#sockets].find((other) => isSame(other, socket));
      if (below) answerClientError(error, below, false);
      socket.destroy();
    });
    server.on(this.name === 'secure' ? 'secureConnection' : 'connection', (stream: Socket) => {
      if (this.#stopping) {
        // Its handshake was in progress at the stop: the client may send one request.
        setTimeout(() => {
          if (answersOf(stream).length === 0) closeGracefully(stream);
        }, LATE_CONNECTION_MS).unref();
      }
      underWay.set(stream, []);
      // Node calls it to close a connection after a response, and would reset one with unread input.
      stream.destroySoon = () => closeGracefully(stream);
      this.#streams.add(stream);
      this.#unfinished.add(stream);
      stream.once('close', () => this.#forget(stream));
    });
    const looking = setInterval(() => this.#cutUnfinished(), LOOK_MS).unref();
    void this.closed.then(() => clearInterval(looking));
  }

  #forget(stream: Duplex): void {
    this.#streams.delete(stream);
    this.#unfinished.delete(stream);
  }

  #cutUnfinished(): void {
    const { metrics, log } = this.#options;
    const cut = this.#unfinished.cut();
    if (cut === 0) return;
    for (let i = 0; i < cut; i++) metrics.malformed(this.name, 408);
    log.warn(
      { connections: cut },
      'connections cut: together they sent too much of requests that they did not complete',
    );
  }

  /** False for a connection that cannot be handed over: it is gone, or has answers to write, and is closed then. */
  #isFree(stream: Duplex): boolean {
    if (stream.destroyed || stream.writableEnded) return false;
    const answers = answersOf(stream);
    if (answers.length === 0) return true;
    this.#options.metrics.malformed(this.name, 400);
    this.#options.log.debug('a tunnel was asked for before all requests were answered');
    stream.destroy();
    // Node looks after the one whose turn it is, and has forgotten those behind it.
    for (const answer of answers.filter(({ socket }) => !socket)) answer.destroy().emit('close');
    return false;
  }

  /** False for a request to be ignored: its connection is gone, or has to be closed. */
  #track(stream: Socket, answer: ServerResponse): boolean {
    // Node parses a chunk to its end, even when the connection was cut meanwhile, or ended with a refusal.
    if (stream.destroyed || stream.writableEnded) return false;
    const answers = answersOf(stream);
    if (answers.length > 0 && areTooMany([...answers, answer], this.#options.limits.headers)) {
      this.#options.metrics.malformed(this.name, 429);
      this.#options.log.debug({ remoteAddress: stream.remoteAddress }, 'too many requests without an answer');
      stream.destroy();
      return false;
    }
    answers.push(answer);
    this.#unfinished.mark(stream);
    if (!this.#keepsAlive) announceClose(answer);
    answer.once('finish', () => {
      // A body that was refused midway: its client has to send it before it reads the response.
      if (!answer.req.complete) answer.req.resume();
    });
    answer.once('close', () => {
      // A Set would take new memory for each request of a connection that has one at a time.
      answers.splice(answers.indexOf(answer), 1);
      this.#unfinished.mark(stream);
      // Headers sent before the stop may have promised keep-alive.
      if (this.#stopping && answers.length === 0) closeGracefully(stream);
    });
    return true;
  }
}

/** Time for the first request on a connection that was accepted before the stop. */
const LATE_CONNECTION_MS = 1_000;

/** Between two looks at what has come of requests that are not complete. */
const LOOK_MS = 1_000;

/** Answers that have to be written, of each connection: Node asks for them where it knows no listener. */
const underWay = new WeakMap<Duplex, ServerResponse[]>();

function answersOf(connection: Duplex): ServerResponse[] {
  return underWay.get(connection) ?? [];
}

/** The protocols that Kubernetes' streams are spoken in. */
const UPGRADES = new Set(['websocket', 'spdy/3.1']);

function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && UPGRADES.has(headers.upgrade.toLowerCase());
}

/** Whether both are of one connection to the same port of ours. */
function isSame(one: Socket, other: Socket): boolean {
  return one.remotePort === other.remotePort && one.remoteAddress === other.remoteAddress;
}

/** What both kinds of server are created with. */
export function serverOptions(limits: ListenerLimits): ServerOptions {
  return {
    maxHeaderSize: limits.headers,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    // How often Node looks for clients that are too slow.
    connectionsCheckingInterval: Math.min(1000, limits.headersTimeout),
    // Node's own refusal has no body and is not logged: the chain refuses instead.
    requireHostHeader: false,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    // Java's client offers h2c with each plain request; an upgrade that we would not accept is an ordinary request. So is
    // one behind requests that wait for their answers: the connection is still needed for those.
    shouldUpgradeCallback: (request) => asksForUpgrade(request) && answersOf(request.socket).length === 0,
  };
}

function announceClose(answer: ServerResponse): void {
  if (!answer.headersSent) answer.shouldKeepAlive = false;
}
