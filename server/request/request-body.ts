import type { IncomingMessage } from 'node:http';
import { newBadRequest, newRequestEntityTooLarge } from '../../apis/meta/v1/errors.ts';
import { wholeBody } from '../cluster/connection/whole-body.ts';

/**
 * The whole body. Throws RequestEntityTooLarge as soon as it passes `maxBytes`, whatever the headers said; the request is
 * not destroyed, or it would take its connection along, and with it the 413.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return wholeBody(request, maxBytes, {
    tooLong: () => bodyTooLarge(maxBytes),
    truncated: () => newBadRequest('the body could not be read'),
  });
}

export function bodyTooLarge(maxBytes: number): Error {
  return newRequestEntityTooLarge(`the request body is larger than ${maxBytes} bytes`);
}
