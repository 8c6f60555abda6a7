// Reader of complete HTTP bodies of requests and responses, with a size limit.
import type { IncomingMessage } from 'node:http';

/** The errors to throw, since requests and responses report them differently. */
export interface BodyErrors {
  readonly tooLong: () => Error;
  /** The body ended early. `cause`: the error of the connection, if any. */
  readonly truncated: (cause?: Error) => Error;
}

/** Reads the body into one buffer. Limit and errors are those of bodyPieces(). */
export async function wholeBody(
  message: IncomingMessage,
  limit: number,
  errors: BodyErrors,
): Promise<Buffer> {
  return Buffer.concat(await bodyPieces(message, limit, errors));
}

/**
 * Reads the body and returns its chunks, at most `limit` bytes. If the body is longer, reading stops, and the caller
 * decides whether to close the connection. Listens to events, because most bodies have one chunk, for which an async
 * iterator costs more than all other work here.
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
