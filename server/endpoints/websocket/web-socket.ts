// WebSockets on which only the server has something to say. What messages are is the caller's business.
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { RequestContext, Upgrade } from '../../request/request-context.ts';

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
