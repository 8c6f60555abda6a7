// Turns of TLS handshakes: the networks of clients take turns, and each iteration of the event loop has time for other work.
import type { Socket } from 'node:net';
import { networkCaller } from '../admission/network.ts';
import { Seats } from '../admission/seats.ts';
import { plainAddress } from '../request/plain-address.ts';

export interface HandshakeTurnsOptions {
  /** Maximum wait for the first bytes of a client, in ms. */
  readonly timeoutMs: number;
  /** Called if they do not arrive in time. Closes the socket. */
  readonly timedOut: (socket: Socket) => void;
}

/**
 * Handshakes that start in one iteration of the event loop. The server needs 1 to 2 ms for a ClientHello, which costs its client nothing:
 * a thousand equal ones on as many connections would block all other work for a second.
 */
const HANDSHAKES = 2;

const ignore = (): void => undefined;

export class HandshakeTurns {
  readonly #options: HandshakeTurnsOptions;
  readonly #seats = new Seats({
    capacity: HANDSHAKES,
    sharing: 'queue',
    refusal: () => new Error('too many TLS handshakes'),
  });

  constructor(options: HandshakeTurnsOptions) {
    this.#options = options;
  }

  /** Calls `start` when the first bytes of the client have arrived, and its network has a turn. */
  wait(socket: Socket, start: () => void): void {
    const { timeoutMs, timedOut } = this.#options;
    const caller = networkCaller(plainAddress(socket.remoteAddress ?? ''));
    const gone = new AbortController();
    const timer = setTimeout(timedOut, timeoutMs, socket);
    // The reset of a connection that waits must not end the process.
    socket.on('error', ignore);
    socket.once('close', () => {
      clearTimeout(timer);
      gone.abort();
    });
    socket.once('readable', () => {
      clearTimeout(timer);
      // The client has closed its side: the TLS socket would not notice.
      if (socket.readableLength === 0) socket.destroy();
      else this.#run(caller, gone.signal, start).catch(ignore);
    });
  }

  async #run(caller: string, signal: AbortSignal, start: () => void): Promise<void> {
    const seat = await this.#seats.take(caller, { signal });
    // The TLS socket reads the ClientHello in this iteration.
    setImmediate(() => seat[Symbol.dispose]());
    if (!signal.aborted) start();
  }
}
