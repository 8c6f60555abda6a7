// What a client must have sent to get a WebSocket (RFC 6455, section 4.2). The library looks for itself, but refuses in words
// of its own.
import type { IncomingHttpHeaders } from 'node:http';
import { newBadRequest, newForbidden } from '../../../apis/meta/v1/errors.ts';
import type { RequestContext, Upgrade } from '../../request/request-context.ts';

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
