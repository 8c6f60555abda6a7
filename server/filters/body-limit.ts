import type { IncomingMessage } from 'node:http';
import { newBadRequest, newRequestEntityTooLarge } from '../../apis/meta/v1/errors.ts';
import type { Filter } from './exchange.ts';

/** Refuses a body that announces itself as too large before a byte of it is read. */
export function bodyLimit(maxBytes: number): Filter {
  return ({ request }) => {
    const length = request.headers['content-length'];
    if (length !== undefined && Number(length) > maxBytes) throw tooLarge(maxBytes);
  };
}

/**
 * The whole body. Throws RequestEntityTooLarge as soon as it passes `maxBytes`, whatever the headers said. By events:
 * most bodies come in one chunk, and an iterator costs more than all the rest of reading it.
 */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const take = (chunk: Buffer): void => {
    size += chunk.length;
    if (size <= maxBytes) {
      chunks.push(chunk);
      return;
    }
    // A request that is destroyed takes its connection along, and with it the 413.
    request.off('data', take).pause();
    reject(tooLarge(maxBytes));
  };
  const cut = (): void => reject(newBadRequest('the body could not be read'));
  request.on('data', take);
  request.once('end', () => {
    // It would make an error of the close that follows.
    request.off('close', cut);
    resolve(Buffer.concat(chunks, size));
  });
  request.once('error', cut);
  request.once('close', cut);
  // One that was destroyed before it was read may never say so.
  if (request.destroyed) cut();
  return promise;
}

function tooLarge(maxBytes: number): Error {
  return newRequestEntityTooLarge(`the request body is larger than ${maxBytes} bytes`);
}
