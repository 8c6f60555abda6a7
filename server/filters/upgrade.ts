// Adapter that creates a response object for upgrade requests (WebSocket, SPDY), because Node creates none. Filters
// reject upgrade requests through the response object.
import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { closeGracefully } from '../http/graceful-close.ts';
import type { Arrival } from './exchange.ts';

// Not an import, which would also load the undici of Node.
const { ServerResponse } = process.getBuiltinModule('node:http');

/**
 * Creates the Arrival of an upgrade request. Its response writes to the socket, so that every filter can reject the request as usual.
 * A rejection closes the connection. `onAccept` is called when a handler accepts the upgrade.
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
  // The socket is a net.Socket or TLSSocket, although Node's type is wider.
  response.assignSocket(socket as Socket);
  socket.on('error', () => socket.destroy());
  // As Node does for ordinary requests.
  const ended = (): void => void socket.end();
  const drained = (): void => void response.emit('drain');
  socket.once('end', ended);
  socket.on('drain', drained);
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
        socket.off('drain', drained);
        response.detachSocket(socket as Socket);
        onAccept();
        socket.once('close', () => response.emit('close'));
        return socket;
      },
    },
  };
}

/**
 * An ordinary response to an upgrade request. Once its headers are written, it reads and discards input, to detect that the client
 * has disconnected. Before, the input may belong to the new protocol, so it stays unread.
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
