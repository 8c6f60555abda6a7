import { Agent, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext } from 'node:tls';
import { mostOfOne } from '../../concurrency/share-of-one.ts';
import { Slots } from '../../concurrency/slots.ts';

export interface ClusterRequestOptions extends RequestOptions {
  /** Aborted when nobody waits for the connection any more. */
  readonly wanted: AbortSignal;
  /** Requests that it is one of; empty for the few that nobody else may hold up. */
  readonly crowd: string;
}

/**
 * TLS handshakes at a time. Each takes a millisecond or two of the event loop, and a live tail of many containers opens a
 * connection for each of them: all at once would be one long piece of work.
 */
const HANDSHAKES = 8;
/** For how long one that is not answered keeps others from beginning, in ms. */
const PATIENCE_MS = 250;

/** Connections to one server under one identity. */
export class ClusterAgent extends Agent {
  /** A review, which a request waits for, must not wait for all live tails before it. */
  readonly #handshakes = new Slots(HANDSHAKES, undefined, mostOfOne);
  #context: SecureContext | undefined;

  /** Left alone it would put server and identity together into a name of kilobytes for every request. */
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
    const timer = setTimeout(done, PATIENCE_MS);
    socket?.once('secureConnect', done).once('close', done);
    return socket;
  }

  /**
   * Left alone each connection would read the certificates and the key anew, into some 50 KB that the garbage collector
   * knows nothing of: those of hundreds of live tails that try again and again while nobody answers would pile up.
   */
  #socket(options: RequestOptions, slot: Disposable): Duplex | null | undefined {
    try {
      this.#context ??= createSecureContext(this.options);
      const shared = { ...options, secureContext: this.#context };
      return super.createConnection(shared);
    } catch (error) {
      // A key that is of another certificate, for instance.
      slot[Symbol.dispose]();
      throw error;
    }
  }
}
