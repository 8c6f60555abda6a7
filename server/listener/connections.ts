// Tracks the open HTTP connections of a listener, with limits for pipelined and incomplete requests. A connection has one
// request at work: pipelined requests start one after the other. A graceful stop closes the connections.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { closeGracefully } from '../http/graceful-close.ts';
import { peerOf } from './connection-limit.ts';
import { IncompleteRequests } from './incomplete-requests.ts';

/**
 * Maximum number of pending requests per connection. Node parses pipelined requests as fast as they arrive, and buffers their
 * headers while the first one waits for the cluster.
 */
export const MAX_PIPELINED = 32;
/** Timeout for the first request on a connection whose TLS handshake was in progress at the stop, in ms. */
const LATE_CONNECTION_MS = 1_000;

/** A module variable, because Node calls `shouldUpgradeCallback` without the listener. */
const pending = new WeakMap<Duplex, ServerResponse[]>();

/** Starts the request of a response whose connection still has an earlier one. */
const starts = new WeakMap<ServerResponse, () => void>();

/** The incomplete responses of a connection, in the order of their requests. */
export function pendingResponses(connection: Duplex): readonly ServerResponse[] {
  return pending.get(connection) ?? [];
}

export class Connections {
  readonly #maxHeaderBytes: number;
  /** TLS sockets of the TLS listener, TCP sockets of the plain-HTTP listener. Without upgraded connections. */
  readonly #open = new Set<Duplex>();
  /** Also upgraded connections. A TLS socket has no public reference to its TCP socket, but the same peer. */
  readonly #byPeer = new Map<string, Duplex>();
  readonly #incomplete = new IncompleteRequests();
  #keepsAlive = true;
  #stopping = false;

  constructor(maxHeaderBytes: number) {
    this.#maxHeaderBytes = maxHeaderBytes;
  }

  add(connection: Socket): void {
    pending.set(connection, []);
    this.#open.add(connection);
    this.#incomplete.add(connection);
    const peer = peerOf(connection);
    this.#byPeer.set(peer, connection);
    connection.once('close', () => {
      this.#byPeer.delete(peer);
      this.remove(connection);
    });
    // Node calls this function to close a connection after a response. It would reset a connection with unread input.
    connection.destroySoon = () => closeGracefully(connection);
    if (!this.#stopping) return;
    setTimeout(() => closeIfIdle(connection), LATE_CONNECTION_MS).unref();
  }

  /** Returns true for a TCP connection that is in its handshake, or has no request and is not upgraded. */
  isIdle(socket: Socket): boolean {
    const connection = this.#byPeer.get(peerOf(socket));
    return !connection || (this.#open.has(connection) && pendingResponses(connection).length === 0);
  }

  /** Removes a closed or upgraded connection. */
  remove(connection: Duplex): void {
    this.#open.delete(connection);
    this.#incomplete.delete(connection);
  }

  /**
   * Tracks a request until its response is complete, and calls `start` when the responses before it are complete: requests behind an
   * unread response cost nothing but their headers. With too many pipelined requests, destroys the connection and returns false.
   */
  track(connection: Socket, response: ServerResponse, start: () => void): boolean {
    const responses = pending.get(connection) ?? [];
    if (responses.length > 0 && areTooMany([...responses, response], this.#maxHeaderBytes)) {
      connection.destroy();
      return false;
    }
    const isFirst = responses.push(response) === 1;
    this.#incomplete.mark(connection);
    if (!this.#keepsAlive) announceClose(response);
    // `on` instead of `once`, which allocates a wrapper for each request: Node emits `close` once.
    response.on('close', () => {
      // The body was rejected before it was complete. The client may read the response only after it has sent the whole body.
      if (!response.req.complete) response.req.resume();
      // An array, because a Set would allocate for each request of a connection without pipelining.
      const place = responses.indexOf(response);
      if (place >= 0) responses.splice(place, 1);
      this.#incomplete.mark(connection);
      if (this.#stopping) closeIfIdle(connection);
      startFirst(responses, connection);
    });
    if (isFirst) start();
    else starts.set(response, start);
    return true;
  }

  /** Sends `Connection: close` with every response from now on. */
  endKeepAlive(): void {
    this.#keepsAlive = false;
    for (const connection of this.#open) {
      for (const response of pendingResponses(connection)) announceClose(response);
    }
  }

  /** Closes idle connections now, and the others after their last pending response. */
  stop(): void {
    this.#stopping = true;
    this.endKeepAlive();
    for (const connection of this.#open) {
      closeIfIdle(connection);
      for (const response of pendingResponses(connection)) closeWith(response, connection);
    }
  }

  /** Destroys connections until incomplete requests are within their memory limit. Returns the number of destroyed connections. */
  limitIncomplete(): number {
    return this.#incomplete.enforceLimit();
  }
}

function startFirst([first]: readonly ServerResponse[], connection: Duplex): void {
  const start = first && starts.get(first);
  if (!start || connection.destroyed || connection.writableEnded) return;
  starts.delete(first);
  start();
}

function closeIfIdle(connection: Duplex): void {
  if (pendingResponses(connection).length === 0) closeGracefully(connection);
}

/**
 * Closes the connection together with its last response, whose headers may contain keep-alive. At the event `close` of the
 * response, the next request may have arrived; a new watch would get 503 instead of another replica.
 */
function closeWith(response: ServerResponse, connection: Duplex): void {
  response.once('prefinish', () => {
    if (pendingResponses(connection).at(-1) === response) closeGracefully(connection);
  });
}

function announceClose(response: ServerResponse): void {
  if (!response.headersSent) response.shouldKeepAlive = false;
}

/** Applies the header size limit of one request to all pipelined requests together. */
function areTooMany(responses: readonly ServerResponse[], maxHeaderBytes: number): boolean {
  if (responses.length > MAX_PIPELINED) return true;
  return responses.reduce((sum, { req }) => sum + headerBytes(req), 0) > maxHeaderBytes;
}

function headerBytes({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length);
}
