// Tiny chunks: closes a connection whose chunked body costs the event loop many times more than its bytes.
import type { IncomingMessage } from 'node:http';
import { round } from '../concurrency/event-loop.ts';

/**
 * Node parses all bytes of a read in one turn, and takes about 5 µs for each chunk of any size. A read of 64 KiB has up to 10,000 chunks
 * of one byte, which delay all other requests by 50 ms.
 */
export const MAX_CHUNKS = 1_000;
/** Chunks of this mean size in bytes are never too many. */
export const MIN_MEAN_BYTES = 16;

/** `closed` is called after the connection was closed. */
export function closeOnTinyChunks(request: IncomingMessage, closed: () => void): void {
  if (request.headers['transfer-encoding'] === undefined) return;
  const push = request.push.bind(request);
  let iteration = -1;
  let chunks = 0;
  let bytes = 0;
  request.push = (chunk: Buffer | null, encoding?: BufferEncoding): boolean => {
    if (request.destroyed) return false;
    // The end of the body.
    if (chunk === null) return push(null);
    const current = round();
    if (current !== iteration) {
      iteration = current;
      chunks = 0;
      bytes = 0;
    }
    chunks++;
    bytes += chunk.length;
    if (chunks <= MAX_CHUNKS || bytes >= chunks * MIN_MEAN_BYTES) return push(chunk, encoding);
    request.destroy();
    request.socket.destroy();
    closed();
    return false;
  };
}
