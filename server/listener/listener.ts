// Base class of the TLS and plain-HTTP listeners, with limits for slow and malicious clients. Well-formed requests go
// to the filter chain.
import type { Server as HttpServer, IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { ApiResponse } from '../http/api-response.ts';
import { bindError } from './bind-error.ts';
import { ConnectionLimit, type Proxies, peerOf } from './connection-limit.ts';
import { Connections, pendingResponses } from './connections.ts';
import type { ListenerMetrics, ListenerName } from './listener-metrics.ts';
import { isPlainHTTP, MAX_HEADER_FIELDS, malformation, rejectMalformed } from './malformed-request.ts';
import { closeOnTinyChunks } from './tiny-chunks.ts';

/** Sizes in bytes, times in milliseconds. */
export interface ListenerLimits {
  /** Maximum number of open connections. */
  readonly connections: number;
  readonly headers: number;
  readonly handshakeTimeout: number;
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly keepAliveTimeout: number;
}

/** The limits of a request and of an idle connection, for both listeners. */
export const REQUEST_LIMITS = {
  /** A token can be 16 KiB, and a front proxy sends one header for each group: thousands of groups fit. */
  headers: 256 << 10,
  /** A TLS handshake takes two round trips. */
  handshakeTimeout: 10_000,
  headersTimeout: 30_000,
  /** Sufficient for a body of MAX_BODY_BYTES at 50 KiB/s. */
  requestTimeout: 60_000,
  /** Go clients close idle connections after 90 s. This is longer, so that the client closes the connection first. */
  keepAliveTimeout: 95_000,
} as const satisfies Omit<ListenerLimits, 'connections'>;

export interface RequestReceiver {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void;
  /** Receives requests to switch the protocol, such as WebSocket. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

export interface ListenerOptions {
  /** Empty for all addresses, IPv4 and IPv6. */
  readonly address: string;
  readonly port: number;
  readonly limits: ListenerLimits;
  readonly proxies: Proxies;
  readonly receiver: RequestReceiver;
  readonly metrics: ListenerMetrics;
  readonly log: Logger;
}

const INCOMPLETE_CHECK_MS = 1_000;
/** Connections above the limit that are accepted while displaced ones close: twice the backlog of the listening socket. */
const CLOSING = 1_024;

export class Listener {
  readonly name: ListenerName;
  readonly #server: HttpServer | HttpsServer;
  readonly #options: ListenerOptions;
  /** TCP sockets, including those in a TLS handshake and upgraded ones. */
  readonly #sockets = new Set<Socket>();
  readonly #connections: Connections;
  readonly #closed = Promise.withResolvers<void>();
  #stopping = false;

  constructor(name: ListenerName, server: HttpServer | HttpsServer, options: ListenerOptions) {
    this.name = name;
    this.#server = server;
    this.#options = options;
    this.#connections = new Connections(options.limits.headers);
  }

  /** Binds the address. Throws StartupError, which says what to change, if the address is unavailable. */
  async listen(): Promise<AddressInfo> {
    const { address, port } = this.#options;
    this.#handleConnections();
    this.#handleErrors();
    this.#handleRequests();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen({ port, ...(address === '' ? {} : { host: address }) }, resolve);
    try {
      await promise;
    } catch (error) {
      throw bindError(error, this.name, address, port);
    }
    this.#server.off('error', reject);
    this.#server.on('error', (error) => this.#options.log.error({ err: error }, 'listener failed'));
    return this.address;
  }

  /** The bound address, with the actual port when the configured one is 0. */
  get address(): AddressInfo {
    const address = this.#server.address();
    if (address === null || typeof address === 'string')
      throw new Error(`the ${this.name} listener is not bound`);
    return address;
  }

  /** Resolves when the listener is stopped and the last connection is closed. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#sockets.size;
  }

  /**
   * Sends `Connection: close` with every response from now on, so that most clients close their connections before
   * `stopAccepting` does.
   */
  endKeepAlive(): void {
    this.#connections.endKeepAlive();
  }

  /** Closes the listening socket and idle connections. Other connections close after their response in flight. */
  stopAccepting(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    if (!this.#server.listening) {
      this.#closed.resolve();
      return;
    }
    // close() would destroy idle connections, and reset one on which a request is arriving.
    this.#server.closeIdleConnections = () => undefined;
    this.#server.close(() => this.#closed.resolve());
    this.#connections.stop();
  }

  /** Destroys all open connections. Returns their number. */
  destroyConnections(): number {
    const open = this.#sockets.size;
    for (const socket of this.#sockets) socket.destroy();
    return open;
  }

  #handleConnections(): void {
    const { limits, proxies, metrics, log } = this.#options;
    const server = this.#server;
    // One more than the limit, to detect requests above the limit.
    server.maxHeadersCount = MAX_HEADER_FIELDS + 1;
    server.maxConnections = limits.connections + CLOSING;
    const limit = new ConnectionLimit({
      max: limits.connections,
      isIdle: (socket) => this.#connections.isIdle(socket),
      proxies,
      dropped: () => metrics.dropped(this.name),
    });
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      limit.add(socket);
      metrics.opened(this.name);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        metrics.closed(this.name);
      });
    });
    server.on('drop', () => metrics.dropped(this.name));
    server.on(this.name === 'secure' ? 'secureConnection' : 'connection', (connection: Socket) => {
      this.#connections.add(connection);
      limit.connected(connection);
    });
    const check = setInterval(() => {
      const destroyed = this.#connections.limitIncomplete();
      if (destroyed === 0) return;
      for (let i = 0; i < destroyed; i++) metrics.malformed(this.name, 408);
      log.warn({ connections: destroyed }, 'connections closed: incomplete requests exceeded their limit');
    }, INCOMPLETE_CHECK_MS).unref();
    void this.closed.then(() => clearInterval(check));
  }

  #handleErrors(): void {
    const { metrics, log } = this.#options;
    this.#server.on('clientError', (error: Error, socket: Duplex) => {
      const earlier = pendingResponses(socket).find((response) => response.headersSent);
      const code = rejectMalformed(error, socket, earlier);
      if (code !== undefined) metrics.malformed(this.name, code);
      log.debug({ err: error, code }, 'malformed request');
    });
    this.#server.on('tlsClientError', (error: Error, socket: Socket) => {
      metrics.handshakeFailed();
      log.debug({ err: error, remoteAddress: socket.remoteAddress }, 'TLS handshake failed');
      // Node has closed the TLS socket, but the TCP socket can still send a response.
      const peer = peerOf(socket);
      const tcp = isPlainHTTP(error) && [...this.#sockets].find((other) => peerOf(other) === peer);
      if (tcp) rejectMalformed(error, tcp, undefined);
      socket.destroy();
    });
  }

  #handleRequests(): void {
    const { receiver } = this.#options;
    const receive = (request: IncomingMessage, response: ServerResponse): void => {
      this.#track(request.socket, response, () => {
        // Node has not parsed the bytes after an upgrade request, so a later request might begin in the middle of another one.
        if (requestsUpgrade(request)) response.shouldKeepAlive = false;
        const error = malformation(request);
        if (error) {
          this.#server.emit('clientError', error, request.socket);
          return;
        }
        closeOnTinyChunks(request, () => this.#options.metrics.malformed(this.name, 400));
        receiver.request(request, response);
      });
    };
    this.#server.on('request', receive);
    // An unknown expectation may be ignored (RFC 9110, 10.1.1); Node would reject it.
    this.#server.on('checkExpectation', receive);
    this.#server.on('checkContinue', (request, response) => {
      continueWhenRead(request, response);
      receive(request, response);
    });
    const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
      // Node has removed its listeners from the socket, and an unhandled error would end the process.
      socket.on('error', () => socket.destroy());
      if (!this.#canUpgrade(socket)) return;
      this.#connections.remove(socket);
      const error = malformation(request);
      if (error) this.#server.emit('clientError', error, socket);
      else receiver.upgrade(request, socket, head);
    };
    this.#server.on('upgrade', upgrade);
    // Without a listener Node would close the connection without a response.
    this.#server.on('connect', upgrade);
  }

  /** Ignores the request if its connection is closed or has too many pipelined requests. */
  #track(connection: Socket, response: ServerResponse, start: () => void): void {
    // Node parses a chunk to its end even after the connection is destroyed or ended.
    if (connection.destroyed || connection.writableEnded) return;
    if (this.#connections.track(connection, response, start)) return;
    this.#options.metrics.malformed(this.name, 429);
    this.#options.log.debug({ remoteAddress: connection.remoteAddress }, 'too many pipelined requests');
  }

  /** Returns false for a closed connection. Destroys a connection with pending responses, and returns false. */
  #canUpgrade(connection: Duplex): boolean {
    if (connection.destroyed || connection.writableEnded) return false;
    const responses = pendingResponses(connection);
    if (responses.length === 0) return true;
    this.#options.metrics.malformed(this.name, 400);
    this.#options.log.debug('upgrade requested while responses were pending');
    connection.destroy();
    // Node closes only the first pending response.
    for (const response of responses.filter(({ socket }) => !socket)) response.destroy().emit('close');
    return false;
  }
}

/**
 * Sends `100 Continue` only when a handler reads the body, so that a rejected client does not send its body. Besides, the proxy of
 * kube-apiserver mistakes a 100 for the response, and then returns 200 to the client.
 */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  // Node discards the rest of a body after the response.
  request.once('resume', () => {
    if (!response.headersSent) response.writeContinue();
  });
}

/** The upgrade protocols of Kubernetes. An upgrade of HTTP/1.0 is ignored (RFC 9110, 7.8): a proxy may not know the protocol. */
const UPGRADES = new Set(['websocket', 'spdy/3.1']);

function requestsUpgrade({ headers: { upgrade = '' }, httpVersion }: IncomingMessage): boolean {
  return httpVersion === '1.1' && UPGRADES.has(upgrade.toLowerCase());
}

/** The options of Node's server, for both listeners. */
export function serverOptions(limits: ListenerLimits): ServerOptions {
  return {
    ServerResponse: ApiResponse,
    maxHeaderSize: limits.headers,
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionsCheckingInterval: Math.min(1000, limits.headersTimeout),
    // The filter chain rejects requests without Host, because Node's rejection has no body and is not logged.
    requireHostHeader: false,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    // Unsupported upgrades are ordinary requests, because Java's client offers h2c with each plain request. Upgrades with pending
    // responses are ordinary requests too, because these responses still need the connection.
    shouldUpgradeCallback: (request) =>
      requestsUpgrade(request) && pendingResponses(request.socket).length === 0,
  };
}
