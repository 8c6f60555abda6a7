// Detects the body of a request, and reads the whole body up to a size limit.
import type { IncomingMessage } from 'node:http';
import { newBadRequest, newRequestEntityTooLarge } from '../../apis/meta/v1/errors.ts';
import { ByteChunks } from '../../apis/reading/byte-chunks.ts';

/** Returns true if the headers of a message announce a body. */
export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return encoding !== undefined || (length !== undefined && length !== '0');
}

/**
 * Reads the whole body of a request, up to `maxBytes`. A longer body throws RequestEntityTooLarge, and the connection
 * stays open for the 413 response. Listens to events, because most bodies have one chunk, for which an async iterator
 * costs more than all other work here.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks = new ByteChunks();
  const take = (chunk: Buffer): void => {
    if (chunks.length + chunk.length <= maxBytes) {
      chunks.add(chunk);
      return;
    }
    request.off('data', take).pause();
    reject(newRequestEntityTooLarge(maxBytes));
  };
  const truncated = (): void => reject(newBadRequest('the request body is incomplete'));
  request.on('data', take);
  request.once('end', () => {
    // The close that follows a normal end is not an error.
    request.off('close', truncated);
    resolve(Buffer.concat(chunks.take()));
  });
  request.once('error', truncated);
  request.once('close', truncated);
  // A request that was destroyed before this call can emit no event.
  if (request.destroyed) truncated();
  return promise;
}
