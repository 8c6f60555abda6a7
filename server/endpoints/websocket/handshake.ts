// The opening handshake of a WebSocket (RFC 6455, section 4.2): what a client must have sent, and the answer to it.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import { newBadRequest, newForbidden } from '../../../apis/meta/v1/errors.ts';
import type { RequestContext, Upgrade } from '../../request/request-context.ts';

/** RFC 6455, section 1.3. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** 16 bytes in base64. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;

/** A subprotocol that is a bearer token, as browsers have to send it to kube-apiserver: nothing to be repeated. */
const TOKEN = /^base64url\.bearer\.authorization\.k8s\.io\./;

/** What of a handshake the answer depends on. */
export interface Handshake {
  readonly upgrade: Upgrade;
  /** The whole of the 101. */
  readonly answer: string;
}

/** Undefined when the request asks for no WebSocket. Throws BadRequest or Forbidden when it may not have one. */
export function readHandshake({ request, response, upgrade }: RequestContext): Handshake | undefined {
  const { headers } = request;
  if (!upgrade || headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
  const key = headers['sec-websocket-key'] ?? '';
  if (headers['sec-websocket-version'] !== '13' || !KEY.test(key)) {
    throw newBadRequest('no handshake of WebSocket version 13');
  }
  refuseForeignPages(headers);
  const lines = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${createHash('sha1').update(`${key}${GUID}`).digest('base64')}`,
  ];
  const protocol = protocolOf(headers);
  if (protocol !== undefined) lines.push(`Sec-WebSocket-Protocol: ${protocol}`);
  const id = response.getHeader('Audit-Id');
  if (id !== undefined) lines.push(`Audit-Id: ${String(id)}`);
  return { upgrade, answer: `${lines.join('\r\n')}\r\n\r\n` };
}

/** The first that is offered: a browser takes an answer without one for a refusal. */
function protocolOf(headers: IncomingHttpHeaders): string | undefined {
  const offered = headers['sec-websocket-protocol']?.split(',').map((protocol) => protocol.trim());
  return offered?.find((protocol) => protocol !== '' && !TOKEN.test(protocol));
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

/** From here on the socket speaks WebSocket. */
export function completeHandshake({ upgrade, answer }: Handshake): Duplex {
  const socket = upgrade.accept();
  socket.write(answer);
  return socket;
}
