// Limit of the open connections of a listener, shared by networks. At the limit, a newcomer displaces a connection of the
// network with the most, an idle one first.

import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { networkCaller } from '../admission/network.ts';
import { type Seat, Seats } from '../admission/seats.ts';
import { NEVER_ABORTED } from '../concurrency/aborted.ts';
import { plainAddress } from '../request/plain-address.ts';

/** Recognizes proxies, each of which has the connections of many clients. */
export interface Proxies {
  readonly hasAddress: (address: string) => boolean;
  /** Returns true for a connection with a client certificate of a proxy. */
  readonly hasCertificate: (connection: TLSSocket) => boolean;
}

interface ConnectionLimitOptions {
  readonly max: number;
  /** Returns true for a connection without a request. */
  readonly isIdle: (socket: Socket) => boolean;
  readonly proxies: Proxies;
  /** Called for a connection that is closed, because there are too many. */
  readonly dropped: () => void;
}

interface Entry {
  readonly socket: Socket;
  seat: Seat | undefined;
}

const ALWAYS = { signal: NEVER_ABORTED };

export class ConnectionLimit {
  readonly #options: ConnectionLimitOptions;
  readonly #seats: Seats;
  /** TCP sockets by peer: a TLS socket has no public reference to its TCP socket, but the same peer. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: ConnectionLimitOptions) {
    this.#options = options;
    const refusal = (): Error => new Error('too many connections');
    this.#seats = new Seats({ capacity: options.max, sharing: 'preempt', refusal });
  }

  /** Adds a connection until it is closed. Closes it, or another one, if there are too many. */
  add(socket: Socket): void {
    const address = plainAddress(socket.remoteAddress ?? '');
    const peer = peerOf(socket);
    const entry: Entry = { socket, seat: undefined };
    this.#entries.set(peer, entry);
    socket.once('close', () => {
      entry.seat?.[Symbol.dispose]();
      if (this.#entries.get(peer) === entry) this.#entries.delete(peer);
    });
    this.#seat(entry, this.#options.proxies.hasAddress(address) ? proxyCaller(peer) : networkCaller(address));
  }

  /** Called after the handshake, when the client certificate is known. */
  connected(connection: Socket): void {
    const peer = peerOf(connection);
    const entry = this.#entries.get(peer);
    if (!entry?.seat || !(connection instanceof TLSSocket)) return;
    if (!this.#options.proxies.hasCertificate(connection)) return;
    entry.seat[Symbol.dispose]();
    this.#seat(entry, proxyCaller(peer));
  }

  #seat(entry: Entry, caller: string): void {
    const { socket } = entry;
    const close = (): void => {
      this.#options.dropped();
      socket.destroy();
    };
    try {
      const seat = this.#seats.take(caller, ALWAYS, close, () => this.#options.isIdle(socket));
      if (!(seat instanceof Promise)) entry.seat = seat;
    } catch {
      close();
    }
  }
}

/** Each connection of a proxy is a caller of its own. */
function proxyCaller(peer: string): string {
  return `proxy ${peer}`;
}

/** The remote address and port of a connection. */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
