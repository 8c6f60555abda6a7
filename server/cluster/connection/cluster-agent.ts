// HTTPS agent for connections to kube-apiserver. The agent limits concurrent TLS handshakes.
import type { IncomingMessage } from 'node:http';
import { Agent, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext } from 'node:tls';
import { newTooManyRequests } from '../../../apis/meta/v1/errors.ts';
import { type Seat, Seats } from '../../admission/seats.ts';

export interface ClusterRequestOptions extends RequestOptions {
  /** The signal is aborted when no request waits for the connection any more. */
  readonly wanted: { readonly signal: AbortSignal };
  /** The class of the request, see ClusterRequest; empty for a request without a class. */
  readonly crowd: string;
}

/**
 * Maximum number of concurrent TLS handshakes. A handshake blocks the event loop for 1 to 2 ms, and a live tail opens
 * one connection per container.
 */
const HANDSHAKES = 8;
/** Time in ms after which a handshake without a response releases its seat. */
const HANDSHAKE_SEAT_MS = 250;

/**
 * Returns true for a response that switches the protocol, without the header `Upgrade` that Node requires for an upgrade. The connection then
 * belongs to another peer, so that the next request on it, with its token, would reach this peer.
 */
export function isSwitched({ statusCode }: Pick<IncomingMessage, 'statusCode'>): boolean {
  return statusCode === 101;
}

/** An HTTPS agent for one server and one identity. */
export class ClusterAgent extends Agent {
  /** Shared fairly between classes: a TokenReview must not queue behind the handshakes of live tails. */
  readonly #handshakes = new Seats({
    capacity: HANDSHAKES,
    sharing: 'reserve',
    refusal: () => newTooManyRequests('too many TLS handshakes', 1),
  });
  #context: SecureContext | undefined;

  /** One constant name. The default name concatenates the server and the identity, kilobytes for each request. */
  override getName(): string {
    return 'kube-apiserver';
  }

  override createConnection(
    options: ClusterRequestOptions,
    created: (error: Error | null, socket?: Duplex | null) => void,
  ): undefined {
    void this.#open(options).then(
      (socket) => created(null, socket),
      (error: Error) => created(error),
    );
  }

  async #open(options: ClusterRequestOptions): Promise<Duplex | null | undefined> {
    const seat = await this.#handshakes.take(options.crowd, options.wanted);
    const socket = this.#socket(options, seat);
    const done = (): void => {
      clearTimeout(timer);
      socket?.off('secureConnect', done).off('close', done);
      seat[Symbol.dispose]();
    };
    const timer = setTimeout(done, HANDSHAKE_SEAT_MS);
    socket?.once('secureConnect', done).once('close', done);
    return socket;
  }

  /**
   * Opens a connection with the shared SecureContext. By default, Node parses the certificates and the key for each
   * connection. This takes 50 KB outside of the JavaScript heap, which accumulates while hundreds of live tails
   * reconnect.
   */
  #socket(options: RequestOptions, seat: Seat): Duplex | null | undefined {
    try {
      this.#context ??= createSecureContext(this.options);
      const shared = { ...options, secureContext: this.#context };
      return super.createConnection(shared);
    } catch (error) {
      // For example, a key that does not match its certificate.
      seat[Symbol.dispose]();
      throw error;
    }
  }
}
