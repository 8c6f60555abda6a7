import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { endWith } from '../request/last-words.ts';
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
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  // Node hands over the socket that it got from net or tls; its type is only wider than that.
  response.assignSocket(socket as Socket);
  socket.on('error', () => socket.destroy());
  const refused = (): void => {
    response.detachSocket(socket as Socket);
    response.emit('close');
    endWith(socket);
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
        response.detachSocket(socket as Socket);
        onAccept();
        socket.once('close', () => response.emit('close'));
        return socket;
      },
    },
  };
}
