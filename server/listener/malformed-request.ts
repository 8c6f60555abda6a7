// Rejects malformed HTTP requests before the filter chain. The responses are Status objects.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { newBadRequest, StatusError } from '../../apis/meta/v1/errors.ts';
import { closeGracefully } from '../http/graceful-close.ts';

// Not an import, which would also load the undici of Node.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * Maximum number of header fields of a request. A user may be in thousands of groups, and the front proxy sends one field per group.
 * Node takes about 1 µs for each unknown field name.
 */
export const MAX_HEADER_FIELDS = 5_000;

/** The error of a TLS handshake when the client speaks HTTP without TLS. */
const PLAIN_HTTP = 'ERR_SSL_HTTP_REQUEST';

/** Returns the error of a malformed request, or undefined for a well-formed one. */
export function malformation({ httpVersion, headers, rawHeaders }: IncomingMessage): Error | undefined {
  // llhttp accepts a request line without a version as HTTP/0.9.
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return new Error(`HTTP/${httpVersion} is not supported`);
  // `rawHeaders` alternates names and values. Node silently drops fields beyond `maxHeadersCount`, which is one above the limit.
  if (rawHeaders.length > 2 * MAX_HEADER_FIELDS) {
    return Object.assign(new Error('a request has too many headers'), { code: 'HPE_HEADER_OVERFLOW' });
  }
  // RFC 9112, 6.1: HTTP/1.0 has no chunked encoding. An old proxy may see another end of the body, which allows request smuggling.
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) {
    return new Error('a request of HTTP/1.0 has a Transfer-Encoding');
  }
  return undefined;
}

const rejected = new WeakSet<Duplex>();

/**
 * Responds to a malformed request, and closes the connection. Returns the status code. Returns undefined without a response, if the
 * client is unreachable or the response to an earlier request has begun (`earlier`).
 */
export function rejectMalformed(
  error: Error,
  socket: Duplex,
  earlier: ServerResponse | undefined,
): number | undefined {
  // The parser reports an error again for each further chunk.
  if (rejected.has(socket)) return undefined;
  rejected.add(socket);
  const code = 'code' in error ? error.code : undefined;
  const isUnreachable = !socket.writable || code === 'ECONNRESET';
  if (earlier?.writableEnded && !isUnreachable) {
    closeBehind(earlier, socket);
    return undefined;
  }
  if (earlier || isUnreachable) {
    socket.destroy();
    return undefined;
  }
  const status = statusOf(code);
  rejectConnection(socket, status);
  return status.code;
}

/** Node may still have bytes of a complete response: TLS sends none while a record of the handshake is being written. */
function closeBehind(response: ServerResponse, socket: Duplex): void {
  if (response.writableFinished) closeGracefully(socket);
  else response.once('finish', () => closeGracefully(socket));
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
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': body.length,
  });
  response.end(body);
}

/** Sends an error on a socket without a ServerResponse (unparsed or upgrade request), and closes it. */
export function rejectConnection(socket: Duplex, error: StatusError): void {
  const body = JSON.stringify(error.toStatus());
  const response = [
    `HTTP/1.1 ${error.code} ${STATUS_CODES[error.code] ?? ''}`,
    'Content-Type: application/json',
    'Cache-Control: no-cache, private',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ];
  closeGracefully(socket, response.join('\r\n'));
}
