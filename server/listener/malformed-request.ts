// Requests that never reach the filter chain: input that is not HTTP, and requests that Node accepts but this server
// does not. Responses have the shape of the chain's own errors.
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { newBadRequest, StatusError } from '../../apis/meta/v1/errors.ts';
import { closeGracefully } from '../request/graceful-close.ts';

/**
 * Header fields of a request: a user may be in thousands of groups, each of which is one field. Node spends about a
 * microsecond on each unknown name.
 */
export const MAX_HEADER_FIELDS = 5_000;

/** The error of a TLS handshake when the client speaks HTTP without TLS. */
const PLAIN_HTTP = 'ERR_SSL_HTTP_REQUEST';

/** Undefined for a request that the server accepts. */
export function malformation({ httpVersion, headers, rawHeaders }: IncomingMessage): Error | undefined {
  // llhttp accepts a request line without a version as HTTP/0.9.
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return new Error(`HTTP/${httpVersion} is not supported`);
  // Names and values in turn. Node reads one field beyond its limit, and silently drops the rest.
  if (rawHeaders.length > 2 * MAX_HEADER_FIELDS) {
    return Object.assign(new Error('a request has too many headers'), { code: 'HPE_HEADER_OVERFLOW' });
  }
  // RFC 9112, 6.1: HTTP/1.0 has no chunked encoding. An old proxy in front may see another end of the body, so the
  // next request on the connection could be smuggled.
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) {
    return new Error('a request of HTTP/1.0 has a Transfer-Encoding');
  }
  return undefined;
}

const rejected = new WeakSet<Duplex>();

/**
 * Responds to input that is not a request, and closes the connection. Returns the status; undefined when the client is
 * unreachable, or when part of another response has been sent (`inResponse`).
 */
export function rejectMalformed(error: Error, socket: Duplex, inResponse: boolean): number | undefined {
  // The parser fails again for each further chunk of the client.
  if (rejected.has(socket)) return undefined;
  rejected.add(socket);
  const code = 'code' in error ? error.code : undefined;
  if (inResponse || !socket.writable || code === 'ECONNRESET') {
    socket.destroy();
    return undefined;
  }
  const status = statusOf(code);
  rejectConnection(socket, status);
  return status.code;
}

export function isPlainHTTP(error: Error): boolean {
  return 'code' in error && error.code === PLAIN_HTTP;
}

function statusOf(code: unknown): StatusError {
  switch (code) {
    case PLAIN_HTTP:
      return newBadRequest('this port accepts HTTPS only: use an https:// URL');
    case 'HPE_HEADER_OVERFLOW':
      return new StatusError(
        431,
        'RequestEntityTooLarge',
        'the request headers exceed the limit in size or number',
      );
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new StatusError(408, 'Timeout', 'the request did not arrive in time');
    case 'HPE_INVALID_URL':
      return newBadRequest(
        'the request target is not well-formed: characters outside ASCII must be percent-encoded, as %C3%BC for ü',
      );
    default:
      return newBadRequest('the request is not well-formed HTTP/1.1');
  }
}

export function reject(response: ServerResponse, error: StatusError): void {
  const body = Buffer.from(JSON.stringify(error.toStatus()));
  response.writeHead(error.code, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache, private',
    'Content-Length': body.length,
  });
  response.end(body);
}

/** For a connection without a readable request, or after an upgrade request; closes it. */
export function rejectConnection(socket: Duplex, error: StatusError): void {
  const body = JSON.stringify(error.toStatus());
  const response = [
    `HTTP/1.1 ${error.code} ${STATUS_CODES[error.code] ?? ''}`,
    'Content-Type: application/json',
    'Cache-Control: no-cache, private',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ];
  closeGracefully(socket, response.join('\r\n'));
}
