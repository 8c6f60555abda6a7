// Reads the bearer token that a browser sends as a WebSocket subprotocol, as kube-apiserver does. A browser cannot set
// the header Authorization of a WebSocket.
import type { IncomingMessage } from 'node:http';
import { newUnauthorized } from '../../apis/meta/v1/errors.ts';

const PREFIX = 'base64url.bearer.authorization.k8s.io.';
/** Returns true for a subprotocol that contains a token. A server never selects it. */
export function isTokenProtocol(protocol: string): boolean {
  return protocol.startsWith(PREFIX);
}

const ENCODED = /^[A-Za-z0-9_-]+$/;

/**
 * Returns the token, or undefined without one. Throws Unauthorized for several tokens, a malformed token, or a token without another
 * subprotocol, which the server could select.
 */
export function webSocketToken({ headers }: IncomingMessage): string | undefined {
  const offered = headers['sec-websocket-protocol'];
  if (!offered?.includes(PREFIX) || headers.upgrade?.toLowerCase() !== 'websocket') return undefined;
  const protocols = offered.split(',').map((protocol) => protocol.trim());
  const [token, ...others] = protocols.filter(isTokenProtocol);
  if (token === undefined) return undefined;
  if (others.length > 0) throw newUnauthorized(new Error('several WebSocket subprotocols with a token'));
  const encoded = token.slice(PREFIX.length);
  if (!ENCODED.test(encoded)) throw newUnauthorized(new Error('malformed token in a WebSocket subprotocol'));
  if (protocols.length === 1) throw newUnauthorized(new Error('no WebSocket subprotocol beside the token'));
  return Buffer.from(encoded, 'base64url').toString('utf8');
}
