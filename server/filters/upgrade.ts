import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { closeGracefully } from '../request/graceful-close.ts';
import type { Arrival } from './exchange.ts';

/**
 * Represents an upgrade request like an ordinary one: a response on the bare socket lets every filter reject it as usual. A
 * rejection closes the connection; `onAccept` is called when a handler accepts.
 */
export function upgradeArrival(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  secure: boolean,
  onAccept: () => void,
): Arrival {
  const response = new UpgradeResponse(request);
  response.shouldKeepAlive = false;
  // The socket is a net.Socket or TLSSocket; Node's type is only wider.
  response.assignSocket(socket as Socket);
  socket.on('error', () => socket.destroy());
  // As Node does for ordinary requests.
  const ended = (): void => void socket.end();
  socket.once('end', ended);
  const rejected = (): void => {
    response.detachSocket(socket as Socket);
    response.emit('close');
    closeGracefully(socket);
  };
  response.once('finish', rejected);
  return {
    request,
    response,
    secure,
    upgrade: {
      head,
      accept: () => {
        response.off('finish', rejected);
        socket.off('end', ended);
        response.detachSocket(socket as Socket);
        onAccept();
        socket.once('close', () => response.emit('close'));
        return socket;
      },
    },
  };
}

/**
 * A response without upgrade. From its headers on, input is read and dropped, to notice when the client closes. Before, it
 * may belong to the other protocol.
 */
class UpgradeResponse extends ServerResponse {
  override writeHead(
    status: number,
    reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    this.socket?.resume();
    return typeof reason === 'string'
      ? super.writeHead(status, reason, headers)
      : super.writeHead(status, reason);
  }
}
