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

/** The whole body. Throws RequestEntityTooLarge as soon as it passes `maxBytes`, whatever the headers said. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // A request that is destroyed takes its connection along, and with it the 413.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    if (size > maxBytes) throw error;
    throw newBadRequest('the body could not be read');
  }
  return Buffer.concat(chunks, size);
}

function tooLarge(maxBytes: number): Error {
  return newRequestEntityTooLarge(`the request body is larger than ${maxBytes} bytes`);
}
