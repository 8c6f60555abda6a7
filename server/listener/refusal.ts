// Answers to what never gets into the filter chain, in the same shape as the chain's own errors.
import { type ServerResponse, STATUS_CODES } from 'node:http';
import { StatusError } from '../../apis/meta/v1/errors.ts';

export function refuse(response: ServerResponse, error: StatusError): void {
  const body = Buffer.from(JSON.stringify(error.toStatus()));
  response.writeHead(error.code, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache, private',
    'Content-Length': body.length,
  });
  response.end(body);
}

/** The whole answer as bytes, for a connection on which no request could be read; it ends the connection. */
export function rawRefusal(error: StatusError): string {
  const body = JSON.stringify(error.toStatus());
  return [
    `HTTP/1.1 ${error.code} ${STATUS_CODES[error.code] ?? ''}`,
    'Content-Type: application/json',
    'Cache-Control: no-cache, private',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

export function newHeadersTooLarge(): StatusError {
  return new StatusError(
    431,
    'RequestEntityTooLarge',
    'the headers of the request are larger than this server allows',
  );
}

export function newRequestTimeout(): StatusError {
  return new StatusError(408, 'Timeout', 'the request did not arrive in time');
}
