import type { Duplex } from 'node:stream';
import { newBadRequest, type StatusError } from '../../apis/meta/v1/errors.ts';
import { newHeadersTooLarge, newRequestTimeout, refuseRaw } from './refusal.ts';

/** What a TLS handshake fails with when the other side speaks HTTP without TLS. */
const PLAIN_HTTP = 'ERR_SSL_HTTP_REQUEST';

const answered = new WeakSet<Duplex>();

/**
 * Answers bytes that are not a request, without details. Returns the status; undefined when nobody could be answered or
 * when `underWay`: part of another answer had already been sent.
 */
export function answerClientError(error: Error, socket: Duplex, underWay: boolean): number | undefined {
  // A client that goes on sending makes the parser fail again and again.
  if (answered.has(socket)) return undefined;
  answered.add(socket);
  const code = 'code' in error ? error.code : undefined;
  if (underWay || !socket.writable || code === 'ECONNRESET') {
    socket.destroy();
    return undefined;
  }
  const refusal = refusalOf(code);
  refuseRaw(socket, refusal);
  return refusal.code;
}

export function isPlainHttp(error: Error): boolean {
  return 'code' in error && error.code === PLAIN_HTTP;
}

function refusalOf(code: unknown): StatusError {
  if (code === PLAIN_HTTP)
    return newBadRequest('this port takes HTTPS only: begin the address with https://');
  if (code === 'HPE_HEADER_OVERFLOW') return newHeadersTooLarge();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return newRequestTimeout();
  if (code === 'HPE_INVALID_URL') {
    return newBadRequest(
      'the address is not well-formed: what is not ASCII has to be escaped, as %C3%BC for ü',
    );
  }
  return newBadRequest('the request is not well-formed HTTP/1.1');
}
