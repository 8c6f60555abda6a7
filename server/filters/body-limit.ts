import type { IncomingMessage } from 'node:http';
import { newBadRequest, newRequestEntityTooLarge } from '../../apis/meta/v1/errors.ts';
import { wholeBody } from '../cluster/connection/whole-body.ts';
import type { Filter } from './exchange.ts';

/** Refuses a body that announces itself as too large before a byte of it is read. */
export function bodyLimit(maxBytes: number): Filter {
  return ({ request }) => {
    const length = request.headers['content-length'];
    if (length !== undefined && Number(length) > maxBytes) throw tooLarge(maxBytes);
  };
}

/**
 * The whole body. Throws RequestEntityTooLarge as soon as it passes `maxBytes`, whatever the headers said; the request is
 * not destroyed, or it would take its connection along, and with it the 413.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return wholeBody(request, maxBytes, {
    tooLong: () => tooLarge(maxBytes),
    cut: () => newBadRequest('the body could not be read'),
  });
}

function tooLarge(maxBytes: number): Error {
  return newRequestEntityTooLarge(`the request body is larger than ${maxBytes} bytes`);
}
