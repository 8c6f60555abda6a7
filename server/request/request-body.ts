// Detects the body of a request, and reads the whole body up to a size limit.
import type { IncomingMessage } from 'node:http';
import { newBadRequest, newRequestEntityTooLarge } from '../../apis/meta/v1/errors.ts';
import { wholeBody } from '../cluster/connection/whole-body.ts';

/** Returns true if the headers of a message announce a body. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}

/**
 * Reads the whole body of a request, up to `maxBytes`. A longer body throws RequestEntityTooLarge, and the connection
 * stays open for the 413 response.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return wholeBody(request, maxBytes, {
    tooLong: () => newRequestEntityTooLarge(maxBytes),
    truncated: () => newBadRequest('the request body is incomplete'),
  });
}
