// Reads the bearer token of a request: from the header Authorization, or from a WebSocket subprotocol, as kube-apiserver
// does, because a browser cannot set the headers of a WebSocket. Everything else that looks like a credential is an error,
// so that no other server finds a token that this server has overlooked.
import { newUnauthorized } from '../../apis/meta/v1/errors.ts';
import type { AuthenticationRequest } from './authenticator.ts';

/** Exactly one space, because kube-apiserver ignores a token after two. */
const BEARER = /^bearer ([^ ]+)$/i;
/** RFC 6750, 2.1. */
const B64TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;
const MAX_TOKEN_LENGTH = 64 * 1024;

const NOT_PRINTABLE = /[^\t\x20-\x7e]/;

const PREFIX = 'base64url.bearer.authorization.k8s.io.';
/** Also matches spellings that kube-apiserver ignores, or reads after it has trimmed Unicode spaces. */
const TOKEN_LIKE = /bearer\.authorization\.k8s\.io/i;

/**
 * Returns the token, or undefined for a request without credentials. Throws Unauthorized for another scheme, a malformed token, and
 * more than one token.
 */
export function bearerToken(context: Pick<AuthenticationRequest, 'request' | 'upgrade'>): string | undefined {
  const { authorization, 'sec-websocket-protocol': protocols } = context.request.headers;
  const offered = protocols !== undefined && TOKEN_LIKE.test(protocols);
  if (authorization === undefined) return offered ? protocolToken(protocols, context) : undefined;
  if (offered) throw malformed('a token in Authorization, and one in a WebSocket subprotocol');
  const token = authorization.length > MAX_TOKEN_LENGTH ? undefined : BEARER.exec(authorization)?.[1];
  if (token === undefined || !B64TOKEN.test(token)) {
    throw malformed('the header Authorization is not "Bearer", one space and a token');
  }
  return token;
}

/** Returns true for a subprotocol that contains a token. A server never selects or forwards it. */
export function isTokenProtocol(protocol: string): boolean {
  return TOKEN_LIKE.test(protocol);
}

/** A token needs another subprotocol beside it, which the server can select. */
function protocolToken(
  offered: string,
  { request, upgrade }: Pick<AuthenticationRequest, 'request' | 'upgrade'>,
): string {
  if (!upgrade || request.headers.upgrade?.toLowerCase() !== 'websocket') {
    throw malformed('a token in a WebSocket subprotocol of a request that opens no WebSocket');
  }
  // `trim` and kube-apiserver remove different characters beyond ASCII.
  if (NOT_PRINTABLE.test(offered))
    throw malformed('a character that is not printable ASCII in a WebSocket subprotocol');
  const protocols = offered.split(',').map((protocol) => protocol.trim());
  const [protocol = '', ...others] = protocols.filter(isTokenProtocol);
  if (others.length > 0) throw malformed('several WebSocket subprotocols with a token');
  if (protocols.length === 1) throw malformed('no WebSocket subprotocol beside the token');
  const encoded = protocol.slice(PREFIX.length);
  const token = Buffer.from(encoded, 'base64url');
  const text = token.toString('latin1');
  // Node ignores characters that are not base64url.
  if (!protocol.startsWith(PREFIX) || token.toString('base64url') !== encoded || !B64TOKEN.test(text)) {
    throw malformed('malformed token in a WebSocket subprotocol');
  }
  return text;
}

function malformed(message: string): Error {
  return newUnauthorized(new Error(message));
}
