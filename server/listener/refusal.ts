// Answers to what never gets into the filter chain, in the same shape as the chain's own errors.
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { StatusError } from '../../apis/meta/v1/errors.ts';
import { closeGracefully } from '../request/graceful-close.ts';

export function refuse(response: ServerResponse, error: StatusError): void {
  const body = Buffer.from(JSON.stringify(error.toStatus()));
  response.writeHead(error.code, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache, private',
    'Content-Length': body.length,
  });
  response.end(body);
}

/** On a connection on which no request could be read, or that is no longer HTTP; ends it. */
export function refuseRaw(socket: Duplex, error: StatusError): void {
  const body = JSON.stringify(error.toStatus());
  const answer = [
    `HTTP/1.1 ${error.code} ${STATUS_CODES[error.code] ?? ''}`,
    'Content-Type: application/json',
    'Cache-Control: no-cache, private',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ];
  closeGracefully(socket, answer.join('\r\n'));
}

export function newHeadersTooLarge(): StatusError {
  return new StatusError(
    431,
    'RequestEntityTooLarge',
    'the headers of the request are larger, or more of them, than this server allows',
  );
}

export function newRequestTimeout(): StatusError {
  return new StatusError(408, 'Timeout', 'the request did not arrive in time');
}
