// Turns of TLS handshakes: the networks of clients take turns, and an iteration of the event loop has at most one.
import type { Socket } from 'node:net';
import { networkCaller } from '../admission/network.ts';
import { Seats } from '../admission/seats.ts';
import { nextRound } from '../concurrency/event-loop.ts';
import { plainAddress } from '../request/plain-address.ts';

interface HandshakeTurnsOptions {
  /** Maximum wait for the first bytes of a client, in ms. */
  readonly timeoutMs: number;
  /** Called if they do not arrive in time. Closes the socket. */
  readonly timedOut: (socket: Socket) => void;
  /** Monotonic clock in ms. */
  readonly now?: () => number;
}

/**
 * Maximum time in ms that a handshake waits while connections arrive. libuv accepts one in an iteration of the event loop, in the order of
 * arrival. Accepting costs a tenth of a handshake, so a new network soon has its turn.
 */
const ACCEPTING_MS = 5;

const ignore = (): void => undefined;

export class HandshakeTurns {
  readonly #options: HandshakeTurnsOptions;
  readonly #turns = new Seats({ capacity: 1, sharing: 'queue', refusal: () => new Error('no turn') });
  /** True if a connection has arrived since the last check. */
  #hasArrivals = false;

  constructor(options: HandshakeTurnsOptions) {
    this.#options = options;
  }

  /**
   * The server needs 1 to 2 ms for a ClientHello, which costs its client nothing: a thousand equal ones on as many connections would block
   * all other work for a second. Calls `start` when the first bytes of the client have arrived, and its network has a turn.
   */
  wait(socket: Socket, start: () => void): void {
    const { timeoutMs, timedOut } = this.#options;
    this.#hasArrivals = true;
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
    using _turn = await this.#turns.take(caller, { signal });
    const { now = () => performance.now() } = this.#options;
    const end = now() + ACCEPTING_MS;
    do {
      this.#hasArrivals = false;
      await nextRound();
    } while (this.#hasArrivals && now() < end);
    if (!signal.aborted) start();
  }
}
