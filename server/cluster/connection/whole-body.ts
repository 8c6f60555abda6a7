import type { IncomingMessage } from 'node:http';

/** Errors of a body, created by its reader. */
export interface BodyErrors {
  readonly tooLong: () => Error;
  /** The body ended early; `cause` if known. */
  readonly truncated: (cause?: Error) => Error;
}

/** Reads the body of a request or a response into one buffer; errors as in bodyPieces(). */
export async function wholeBody(
  message: IncomingMessage,
  limit: number,
  errors: BodyErrors,
): Promise<Buffer> {
  return Buffer.concat(await bodyPieces(message, limit, errors));
}

/**
 * Reads the body of a request or a response, at most `limit` bytes, as the chunks that arrived. Stops reading a
 * longer body; the caller decides about the connection. Uses events, since most bodies are one chunk, and an async
 * iterator costs more than the rest of reading it.
 */
export function bodyPieces(
  message: IncomingMessage,
  limit: number,
  { tooLong, truncated }: BodyErrors,
): Promise<Buffer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer[]>();
  const chunks: Buffer[] = [];
  let length = 0;
  const take = (chunk: Buffer): void => {
    length += chunk.length;
    if (length <= limit) {
      chunks.push(chunk);
      return;
    }
    message.off('data', take).pause();
    reject(tooLong());
  };
  const closed = (): void => reject(truncated());
  message.on('data', take);
  message.once('end', () => {
    // The close that follows a normal end is not an error.
    message.off('close', closed);
    resolve(chunks);
  });
  message.once('error', (error) => reject(truncated(error)));
  message.once('close', closed);
  // A message that was destroyed before this call can emit no event.
  if (message.destroyed) closed();
  return promise;
}
