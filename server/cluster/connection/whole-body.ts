import type { IncomingMessage } from 'node:http';

/** The errors that whoever reads a body gives. */
export interface BodyFaults {
  readonly tooLong: () => Error;
  /** It ended early; `cause` where more is known. */
  readonly cut: (cause?: Error) => Error;
}

/** All of a request or of an answer, in one piece; else as bodyPieces(). */
export async function wholeBody(
  message: IncomingMessage,
  limit: number,
  faults: BodyFaults,
): Promise<Buffer> {
  return Buffer.concat(await bodyPieces(message, limit, faults));
}

/**
 * All of a request or of an answer, at most `limit` bytes, in the pieces it came in. One that is longer is read no
 * further, and whether its connection goes is up to the caller. By events: most bodies come in one chunk, and an iterator
 * costs more than all the rest of reading it.
 */
export function bodyPieces(
  message: IncomingMessage,
  limit: number,
  { tooLong, cut }: BodyFaults,
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
  const closed = (): void => reject(cut());
  message.on('data', take);
  message.once('end', () => {
    // It would turn the close that follows into an error.
    message.off('close', closed);
    resolve(chunks);
  });
  message.once('error', (error) => reject(cut(error)));
  message.once('close', closed);
  // One that was destroyed before it was read may never say so.
  if (message.destroyed) closed();
  return promise;
}
