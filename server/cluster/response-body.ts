import type { IncomingMessage } from 'node:http';
import type { StatusError } from '../../apis/meta/v1/errors.ts';
import { statusErrorOf } from './status-response.ts';

/**
 * The whole body, at most `limit` bytes; a longer one destroys the answer and throws. By events: most bodies come in one
 * chunk, and an iterator costs more than all the rest of reading it.
 */
export function readBody(response: IncomingMessage, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let length = 0;
  response.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > limit) response.destroy(new Error(`the answer is longer than ${limit} bytes`));
    else chunks.push(chunk);
  });
  const cut = (): void => reject(new Error('the answer was cut'));
  response.once('end', () => {
    // It would make an error of the close that follows.
    response.off('close', cut);
    resolve(Buffer.concat(chunks, length));
  });
  response.once('error', reject);
  response.once('close', cut);
  // One that was destroyed before it was read may never say so.
  if (response.destroyed) cut();
  return promise;
}

const ERROR_BODY_LIMIT = 1 << 20;

/** The error that an answer outside 2xx stands for; reads its body. */
export async function readError(response: IncomingMessage): Promise<StatusError> {
  const text = (await readBody(response, ERROR_BODY_LIMIT)).toString('utf8');
  return statusErrorOf(response.statusCode ?? 0, parsedOrText(text), response.headers['retry-after']);
}

function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
