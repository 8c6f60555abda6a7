// WebSockets on which only the server has something to say. What messages are is the caller's business.

import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { newBadRequest, newForbidden } from '../../apis/meta/v1/errors.ts';
import type { RequestContext, Upgrade } from '../request/request-context.ts';

/** Bytes that a client may say at once, though nobody listens. */
const MAX_MESSAGE = 64 * 1024;
/** Bytes that may wait for a client whose pings are still answered: who takes nothing gets no more of them. */
const MAX_WAITING = 64 * 1024;

/** A subprotocol that is a bearer token, as browsers have to send it to kube-apiserver: nothing to be repeated. */
const TOKEN = /^base64url\.bearer\.authorization\.k8s\.io\./;

const endpoint = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE,
  autoPong: false,
  // The first: a browser takes an answer without one for a refusal.
  handleProtocols: (offered) => [...offered].find((protocol) => !TOKEN.test(protocol)) ?? false,
});

export interface OpenWebSocket {
  readonly webSocket: WebSocket;
  /** What it runs on: tells when all that waited has left. */
  readonly socket: Duplex;
}

/** Answers the handshake that webSocketUpgrade() has looked at. Undefined when the client has gone. */
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
  // Calls back before it returns, or never.
  endpoint.handleUpgrade(request, socket, upgrade.head, (webSocket) => {
    opened = webSocket;
    // A client that breaks the protocol: its connection is closed with a code that says so.
    webSocket.on('error', () => undefined);
    webSocket.on('ping', (data) => {
      if (webSocket.bufferedAmount < MAX_WAITING) webSocket.pong(data);
    });
  });
  endpoint.off('headers', withID);
  return opened && { webSocket: opened, socket };
}

// What a client must have sent to get a WebSocket (RFC 6455, section 4.2). The library looks for itself, but refuses in words
// of its own.
/** 16 bytes in base64. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;

/** Tokens of HTTP (RFC 9110, 5.6.2), parted by commas. */
const PROTOCOLS = /^[!#$%&'*+.^_`|~\w-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~\w-]+)*$/;

/** The upgrade to a WebSocket; undefined when none is asked for. Throws BadRequest or Forbidden when there may be none. */
export function webSocketUpgrade({ request: { headers }, upgrade }: RequestContext): Upgrade | undefined {
  if (!upgrade || headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
  const key = headers['sec-websocket-key'] ?? '';
  if (headers['sec-websocket-version'] !== '13' || !KEY.test(key)) {
    throw newBadRequest('no handshake of WebSocket version 13');
  }
  refuseFaultyProtocols(headers['sec-websocket-protocol']);
  refuseForeignPages(headers);
  return upgrade;
}

function refuseFaultyProtocols(offered: string | undefined): void {
  if (offered === undefined) return;
  const names = offered.split(',').map((name) => name.trim());
  if (PROTOCOLS.test(offered) && new Set(names).size === names.length) return;
  // Not repeated: browsers have to send tokens in it.
  throw newBadRequest('Sec-WebSocket-Protocol is no list of different names');
}

/**
 * A browser asks for a WebSocket of any page, and adds the client certificate of its user: only pages of this very
 * address may have one. What comes through kube-apiserver was let in there, and bears a header that no page can set.
 */
function refuseForeignPages({ origin, host, 'x-forwarded-for': forwarded }: IncomingHttpHeaders): void {
  if (origin === undefined || forwarded !== undefined) return;
  if (host !== undefined && URL.parse(origin)?.host === URL.parse(`https://${host}`)?.host) return;
  throw newForbidden(undefined, '', 'pages of other origins get no WebSocket here');
}
