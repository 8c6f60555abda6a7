// Connection pool: the connections to one server with one TLS identity, one request at a time on each. The pool of undici is not
// used, because its connections do not know their request, so that callers could not share TLS handshakes fairly.
import { Client } from 'undici';
import { Connector, type TLSIdentity } from './connector.ts';

export interface PoolOptions {
  /** Scheme, host and port; the rest is ignored. */
  readonly url: URL;
  readonly tls?: TLSIdentity;
  /** An HTTP or SOCKS proxy. */
  readonly proxyUrl?: string | undefined;
}

/** Idle time in ms after which a connection is closed. kube-apiserver closes it after 90 s. */
const IDLE_MS = 60_000;
const MAX_IDLE = 256;

export class ConnectionPool {
  readonly connector: Connector;
  readonly origin: string;
  /** The connection that was used last is the last one. */
  readonly #idle: Connection[] = [];
  #isRetired = false;

  constructor({ url, tls = {}, proxyUrl }: PoolOptions) {
    this.origin = url.origin;
    this.connector = new Connector(url, tls, proxyUrl);
  }

  /** Returns an idle connection, else a new one. `crowd`: see `UpstreamRequest`. `isFresh`: always a new one. */
  take(crowd: string, isFresh: boolean): Connection {
    const connection = (isFresh ? undefined : this.#idle.pop()) ?? this.#opened();
    connection.crowd = crowd;
    return connection;
  }

  /** Takes a connection back after a complete response. */
  release(connection: Connection): void {
    if (this.#isRetired || this.#idle.length >= MAX_IDLE) connection.close();
    else this.#idle.push(connection);
  }

  /** Closes idle connections now, and the others after their response. */
  retire(): void {
    this.#isRetired = true;
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  #opened(): Connection {
    const connection = new Connection(this.origin, this.connector);
    connection.client.on('disconnect', () => {
      const at = this.#idle.indexOf(connection);
      if (at === -1) return;
      this.#idle.splice(at, 1);
      connection.close();
    });
    return connection;
  }
}

/** A connection that undici opens with its first request, and again if it was closed before a request was written to it. */
export class Connection {
  readonly client: Client;
  /** True after a request has been written to the current socket. */
  isUsed = false;
  /** Of the current request. */
  crowd = '';
  readonly #closing = new AbortController();

  constructor(origin: string, connector: Connector) {
    this.client = new Client(origin, {
      connect: (_options, settle) => {
        this.isUsed = false;
        connector.open(this.crowd, this.#closing.signal).then(
          (socket) => settle(null, socket),
          (error: Error) => settle(error, null),
        );
      },
      // The requests have timeouts of their own. A watch has none.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      pipelining: 1,
    });
  }

  /** Closes the connection, and ends its request with `reason`. */
  close(reason?: Error): void {
    this.#closing.abort();
    void this.client.destroy(reason ?? null);
  }
}
