// The HTTP connections of a listener with their pending responses: limits pipelined and incomplete requests, and closes
// connections for a graceful stop. listener.ts owns the server and its events.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { closeGracefully } from '../request/graceful-close.ts';
import { IncompleteRequests } from './incomplete-requests.ts';

/**
 * Pending requests per connection. Node parses pipelined requests as fast as they arrive and buffers their headers, even
 * while the first one waits for the cluster.
 */
const MAX_PIPELINED = 32;
/** Time for the first request on a connection that was accepted before the stop. */
const LATE_CONNECTION_MS = 1_000;

/** Module-wide, because Node calls `shouldUpgradeCallback` without a listener. */
const pending = new WeakMap<Duplex, ServerResponse[]>();

/** Responses that are not complete, in the order of their requests. */
export function pendingResponses(connection: Duplex): readonly ServerResponse[] {
  return pending.get(connection) ?? [];
}

export class Connections {
  readonly #maxHeaderBytes: number;
  /** The TLS sockets of a TLS listener, else the TCP sockets. Without upgraded connections. */
  readonly #open = new Set<Duplex>();
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
    connection.once('close', () => this.remove(connection));
    // Node calls it to close a connection after a response, and would reset one with unread input.
    connection.destroySoon = () => closeGracefully(connection);
    if (!this.#stopping) return;
    // Its handshake was in progress at the stop: the client may send one request.
    setTimeout(() => closeIfIdle(connection), LATE_CONNECTION_MS).unref();
  }

  /** Also for an upgraded connection, which is no longer HTTP. */
  remove(connection: Duplex): void {
    this.#open.delete(connection);
    this.#incomplete.delete(connection);
  }

  /** Registers a request until its response is complete. Returns false, and closes the connection, for too many pipelined requests. */
  track(connection: Socket, response: ServerResponse): boolean {
    const responses = pending.get(connection) ?? [];
    if (responses.length > 0 && areTooMany([...responses, response], this.#maxHeaderBytes)) {
      connection.destroy();
      return false;
    }
    responses.push(response);
    this.#incomplete.mark(connection);
    if (!this.#keepsAlive) announceClose(response);
    response.once('finish', () => {
      // The body was rejected midway. Its client may have to send all of it before it reads the response.
      if (!response.req.complete) response.req.resume();
    });
    response.once('close', () => {
      // An array: a Set allocates for each request of a connection that has one at a time.
      responses.splice(responses.indexOf(response), 1);
      this.#incomplete.mark(connection);
      // Headers sent before the stop may have promised keep-alive.
      if (this.#stopping) closeIfIdle(connection);
    });
    return true;
  }

  /** Sends `Connection: close` with every response from now on. */
  endKeepAlive(): void {
    this.#keepsAlive = false;
    for (const connection of this.#open) {
      for (const response of pendingResponses(connection)) announceClose(response);
    }
  }

  /** Closes idle connections now, the others after their last pending response. */
  stop(): void {
    this.#stopping = true;
    this.endKeepAlive();
    for (const connection of this.#open) closeIfIdle(connection);
  }

  /** Destroys connections while incomplete requests take too much memory. Returns their number. */
  limitIncomplete(): number {
    return this.#incomplete.enforceLimit();
  }
}

function closeIfIdle(connection: Duplex): void {
  if (pendingResponses(connection).length === 0) closeGracefully(connection);
}

function announceClose(response: ServerResponse): void {
  if (!response.headersSent) response.shouldKeepAlive = false;
}

/** The headers of all pipelined requests together may be as large as those of one request. */
function areTooMany(responses: readonly ServerResponse[], maxHeaderBytes: number): boolean {
  if (responses.length > MAX_PIPELINED) return true;
  return responses.reduce((sum, { req }) => sum + headerBytes(req), 0) > maxHeaderBytes;
}

function headerBytes({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length);
}
