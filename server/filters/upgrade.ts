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
 * An upgrade as an ordinary request: Node hands over a bare socket, and the response attached to it lets every filter
 * refuse in the usual way. A refusal closes the connection; `onAccept` is called otherwise.
 */
export function upgradeArrival(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  secure: boolean,
  onAccept: () => void,
): Arrival {
  const response = new OrdinaryAnswer(request);
  response.shouldKeepAlive = false;
  // Node hands over the socket that it got from net or tls; its type is only wider than that.
  response.assignSocket(socket as Socket);
  socket.on('error', () => socket.destroy());
  // As Node has it where nothing was asked for but HTTP.
  const left = (): void => void socket.end();
  socket.once('end', left);
  const refused = (): void => {
    response.detachSocket(socket as Socket);
    response.emit('close');
    closeGracefully(socket);
  };
  response.once('finish', refused);
  return {
    request,
    response,
    secure,
    upgrade: {
      head,
      accept: () => {
        response.off('finish', refused);
        socket.off('end', left);
        response.detachSocket(socket as Socket);
        onAccept();
        socket.once('close', () => response.emit('close'));
        return socket;
      },
    },
  };
}

/**
 * It may be a stream: what the client says from its beginning on is dropped, but read, or nobody would hear when it goes.
 * Before, it may be of the other protocol.
 */
class OrdinaryAnswer extends ServerResponse {
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
