// Connector: opens connections to one server with one TLS identity. It limits concurrent TLS handshakes, which callers share fairly.
import { once } from 'node:events';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import {
  connect as connectSecure,
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls';
import { newTooManyRequests } from '../../apis/meta/v1/errors.ts';
import { Seats } from '../admission/seats.ts';
import { type Address, addressOf } from './address.ts';
import { openTunnel } from './proxy-tunnel.ts';

/** CA, client certificate and verification of connections to one server. */
export interface TLSIdentity extends Pick<SecureContextOptions, 'ca' | 'cert' | 'key'> {
  /** Name that is sent as SNI and verified; by default the host of the URL. */
  readonly servername?: string | undefined;
  readonly rejectUnauthorized?: boolean | undefined;
}

/**
 * Maximum number of concurrent TLS handshakes. A handshake blocks the event loop for 1 to 2 ms, and a live tail opens
 * one connection per container.
 */
const HANDSHAKES = 8;
/** Time in ms after which a handshake without a response releases its seat. */
const HANDSHAKE_SEAT_MS = 250;
const TCP_KEEP_ALIVE_MS = 15_000;

export class Connector {
  readonly #url: URL;
  readonly #tls: TLSIdentity;
  readonly #proxyUrl: string | undefined;
  /** Shared fairly between callers: a TokenReview must not queue behind the handshakes of live tails. */
  readonly #handshakes = new Seats({
    capacity: HANDSHAKES,
    sharing: 'reserve',
    refusal: () => newTooManyRequests('too many TLS handshakes', 1),
  });
  #context: SecureContext | undefined;
  /** Of the last handshake, so that the next one is short. */
  #session: Buffer | undefined;

  /** `url`: scheme, host and port of the server. `proxyUrl`: an HTTP or SOCKS proxy. */
  constructor(url: URL, tls: TLSIdentity, proxyUrl?: string) {
    this.#url = url;
    this.#tls = tls;
    this.#proxyUrl = proxyUrl;
  }

  /** Opens a connection, with the TLS handshake. `crowd`: the caller, or a class of requests. */
  async open(crowd: string, signal: AbortSignal): Promise<Socket> {
    if (this.#url.protocol === 'http:') return this.#socket(signal);
    const seat = await this.#handshakes.take(crowd, { signal });
    const timer = setTimeout(() => seat[Symbol.dispose](), HANDSHAKE_SEAT_MS);
    try {
      return await this.#socket(signal);
    } finally {
      clearTimeout(timer);
      seat[Symbol.dispose]();
    }
  }

  async #socket(signal: AbortSignal): Promise<Socket> {
    const isSecure = this.#url.protocol === 'https:';
    const target = addressOf(this.#url);
    const tunnel =
      this.#proxyUrl === undefined ? undefined : await openTunnel(this.#proxyUrl, target, signal);
    if (tunnel && !isSecure) return tunnel;
    const socket = isSecure
      ? this.#secureSocket(target, tunnel)
      : connectPlain({ host: target.host, port: target.port });
    socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS).setNoDelay(true);
    try {
      await once(socket, isSecure ? 'secureConnect' : 'connect', { signal });
      return socket;
    } catch (error) {
      this.#session = undefined;
      socket.on('error', () => undefined).destroy();
      throw error;
    }
  }

  #secureSocket({ host, port }: Address, tunnel: Socket | undefined): Socket {
    const { servername, rejectUnauthorized = true, ...material } = this.#tls;
    // By default, Node parses the certificates and the key for each connection. This takes 50 KB outside of the JavaScript heap, which
    // accumulates while hundreds of live tails reconnect.
    this.#context ??= createSecureContext(material);
    return connectSecure({
      host,
      port,
      ...(tunnel ? { socket: tunnel } : {}),
      ...(this.#session ? { session: this.#session } : {}),
      // Not for an IP address (RFC 6066, 3).
      servername: servername ?? (isIP(host) === 0 ? host : ''),
      rejectUnauthorized,
      secureContext: this.#context,
      ALPNProtocols: ['http/1.1'],
    }).on('session', (session) => {
      this.#session = session;
    });
  }
}
