// Limit of the open connections of a listener, shared by networks: a newcomer displaces a connection of the network with
// the most.
import type { Socket } from 'node:net';
import { plainAddress } from '../request/plain-address.ts';
import { networkOf } from '../request/source-address.ts';

export class ConnectionLimit {
  readonly #max: number;
  readonly #isIdle: (socket: Socket) => boolean;
  /** TCP sockets in the order of their arrival. */
  readonly #networks = new Map<string, Set<Socket>>();
  #count = 0;

  /** `isIdle`: returns true for a connection without a request. */
  constructor(max: number, isIdle: (socket: Socket) => boolean) {
    this.#max = max;
    this.#isIdle = isIdle;
  }

  /**
   * Adds a connection until it is closed. If there are too many, returns the connection to close: the newest idle one, or the newest,
   * of the network with the most. It is the new one if its own network would then have the most.
   */
  add(socket: Socket): Socket | undefined {
    const network = networkOf(plainAddress(socket.remoteAddress ?? ''));
    const own = this.#networks.get(network) ?? new Set();
    this.#networks.set(network, own);
    own.add(socket);
    this.#count++;
    socket.once('close', () => this.#delete(network, socket));
    if (this.#count <= this.#max) return undefined;
    let most: ReadonlySet<Socket> = own;
    for (const sockets of this.#networks.values()) if (sockets.size > most.size) most = sockets;
    if (most === own) return socket;
    const newest = [...most].reverse();
    return newest.find(this.#isIdle) ?? newest[0];
  }

  #delete(network: string, socket: Socket): void {
    const sockets = this.#networks.get(network);
    if (!sockets?.delete(socket)) return;
    this.#count--;
    if (sockets.size === 0) this.#networks.delete(network);
  }
}
