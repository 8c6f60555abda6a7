// What Node takes for a request, and we do not.
import type { IncomingMessage } from 'node:http';

/**
 * Header fields of a request: somebody may be in thousands of groups, each of which is one. Node takes a microsecond for
 * each name that it has not seen, whoever sends it.
 */
export const MAX_HEADER_FIELDS = 5_000;

/** Undefined for a request that may be answered. */
export function faultIn({ httpVersion, headers, rawHeaders }: IncomingMessage): Error | undefined {
  // llhttp accepts a request line without a version as HTTP/0.9, which no client of ours speaks.
  if (httpVersion !== '1.1' && httpVersion !== '1.0')
    return new Error(`HTTP/${httpVersion} is not supported`);
  // Names and values in turn. Node reads no more than one beyond the limit, and drops the rest without a word.
  if (rawHeaders.length > 2 * MAX_HEADER_FIELDS) {
    return Object.assign(new Error('a request has too many headers'), { code: 'HPE_HEADER_OVERFLOW' });
  }
  // RFC 9112, 6.1: HTTP/1.0 has no chunks. A proxy of that age in front may have taken another end of the body for the
  // true one, and what we would read as the next request is then somebody else's choice.
  if (httpVersion === '1.0' && headers['transfer-encoding'] !== undefined) {
    return new Error('a request of HTTP/1.0 has a Transfer-Encoding');
  }
  return undefined;
}
