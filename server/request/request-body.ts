// Reads the whole body of a request, up to a size limit.
import type { IncomingMessage } from 'node:http';
import { newBadRequest, newRequestEntityTooLarge } from '../../apis/meta/v1/errors.ts';
import { wholeBody } from '../cluster/connection/whole-body.ts';

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
