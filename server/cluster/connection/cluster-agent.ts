import { Agent, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext } from 'node:tls';
import { Slots, tenantShare } from '../../concurrency/slots.ts';

export interface ClusterRequestOptions extends RequestOptions {
  /** Aborted when no request waits for the connection. */
  readonly wanted: AbortSignal;
  /** The class of the request, see ClusterRequest; empty for requests that must not queue behind a class. */
  readonly crowd: string;
}

/**
 * Concurrent TLS handshakes. Each takes 1 to 2 ms of the event loop, and a live tail of many containers opens one
 * connection per container.
 */
const HANDSHAKES = 8;
/** Time in ms after which an unanswered handshake no longer occupies a slot. */
const HANDSHAKE_SLOT_MS = 250;

/** HTTPS agent for one server and one identity. */
export class ClusterAgent extends Agent {
  /** Fair between classes: a review must not queue behind the handshakes of live tails. */
  readonly #handshakes = new Slots(HANDSHAKES, undefined, tenantShare);
  #context: SecureContext | undefined;

  /** The default name concatenates server and identity: kilobytes for each request. */
  override getName(): string {
    return 'kube-apiserver';
  }

  override createConnection(
    options: ClusterRequestOptions,
    created: (error: Error | null, socket?: Duplex | null) => void,
  ): undefined {
    this.#handshakes
      .take(options.wanted, options.crowd)
      .then((slot) => this.#connect(options, slot))
      .then(
        (socket) => created(null, socket),
        (error: Error) => created(error),
      );
  }

  #connect(options: RequestOptions, slot: Disposable): Duplex | null | undefined {
    const socket = this.#socket(options, slot);
    const done = (): void => {
      clearTimeout(timer);
      socket?.off('secureConnect', done).off('close', done);
      slot[Symbol.dispose]();
    };
    const timer = setTimeout(done, HANDSHAKE_SLOT_MS);
    socket?.once('secureConnect', done).once('close', done);
    return socket;
  }

  /**
   * Shares one SecureContext. By default each connection parses the certificates and the key into 50 KB outside of
   * the JavaScript heap, which accumulates while hundreds of live tails reconnect.
   */
  #socket(options: RequestOptions, slot: Disposable): Duplex | null | undefined {
    try {
      this.#context ??= createSecureContext(this.options);
      const shared = { ...options, secureContext: this.#context };
      return super.createConnection(shared);
    } catch (error) {
      // For example, a key that does not match its certificate.
      slot[Symbol.dispose]();
      throw error;
    }
  }
}
