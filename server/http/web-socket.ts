// WebSocket server that performs the handshake, sends messages and pings, and enforces limits. Messages from the
// client are ignored.

import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { newBadRequest, newForbidden } from '../../apis/meta/v1/errors.ts';
import { isTokenProtocol } from '../authentication/bearer-token.ts';
import { isForeignPage } from '../authentication/browser-request.ts';
import { ANONYMOUS } from '../authentication/user.ts';
import type { RequestContext, Upgrade } from '../request/request-context.ts';

/** Maximum size of a client's message in bytes. Messages of clients are ignored. */
export const MAX_MESSAGE = 64 * 1024;
/** Number of queued bytes above which the server does not respond to pings. */
export const MAX_WAITING = 64 * 1024;

const endpoint = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE,
  autoPong: false,
  // Selects the first subprotocol, because a browser rejects a response without one.
  handleProtocols: (offered) => [...offered].find((protocol) => !isTokenProtocol(protocol)) ?? false,
});

export interface OpenWebSocket {
  readonly webSocket: WebSocket;
  /** The connection; emits `drain`. */
  readonly socket: Duplex;
}

/** Completes the handshake that webSocketUpgrade() has validated. Undefined if the client has disconnected. */
export function openWebSocket(
  { request, response }: RequestContext,
  upgrade: Upgrade,
): OpenWebSocket | undefined {
  const id = response.getHeader('Audit-Id');
  const withID = (headers: string[]): void => {
    if (id !== undefined) headers.push(`Audit-Id: ${String(id)}`);
  };
  const socket = upgrade.accept();
  let opened: WebSocket | undefined;
  endpoint.once('headers', withID);
  // The callback runs synchronously, or never.
  endpoint.handleUpgrade(request, socket, upgrade.head, (webSocket) => {
    opened = webSocket;
    // After a protocol error, the library closes the connection with the matching code.
    webSocket.on('error', () => undefined);
    webSocket.on('ping', (data) => {
      if (webSocket.bufferedAmount < MAX_WAITING) webSocket.pong(data);
    });
  });
  endpoint.off('headers', withID);
  return opened && { webSocket: opened, socket };
}

// Validation of the handshake (RFC 6455, 4.2). The library validates too, but its responses are not Status objects.
/** Format of Sec-WebSocket-Key: 16 bytes in base64. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;

/** Comma-separated HTTP tokens (RFC 9110, 5.6.2). */
const PROTOCOLS = /^[!#$%&'*+.^_`|~\w-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~\w-]+)*$/;

/** Returns the WebSocket upgrade, undefined without one. Throws BadRequest or Forbidden for an invalid handshake. */
export function webSocketUpgrade(context: RequestContext): Upgrade | undefined {
  const { upgrade, user } = context;
  const { headers } = context.request;
  if (!upgrade || headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
  const key = headers['sec-websocket-key'] ?? '';
  if (headers['sec-websocket-version'] !== '13' || !KEY.test(key)) {
    throw newBadRequest('not a WebSocket handshake of version 13');
  }
  const protocols = headers['sec-websocket-protocol'];
  // Headlamp sends an empty header. The library rejects it.
  if (protocols?.trim() === '') headers['sec-websocket-protocol'] = undefined;
  else checkProtocols(protocols);
  // A browser opens WebSockets for any page. Other callers have sent a token, which a page of another origin does not have, or a
  // client certificate, see `ambient`.
  if (user === ANONYMOUS && isForeignPage(context)) {
    throw newForbidden(
      undefined,
      '',
      'WebSockets without a token are not available to pages of other origins',
    );
  }
  return upgrade;
}

function checkProtocols(offered: string | undefined): void {
  if (offered === undefined) return;
  const names = offered.split(',').map((name) => name.trim());
  if (PROTOCOLS.test(offered) && new Set(names).size === names.length) return;
  // The message does not contain the header, because browsers send tokens in it.
  throw newBadRequest('Sec-WebSocket-Protocol is not a list of distinct names');
}
