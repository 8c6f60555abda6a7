import { isMarkedAsUntransferable } from 'node:worker_threads';

/**
 * Gives the memory of a buffer back at once, and all that it is a piece of, which nobody may read any more: the garbage
 * collector lets 64 MB gather before it looks for buffers that are not quite new. What Node shares out to small buffers of
 * anybody, and marks for that reason, stays.
 */
export function release({ buffer }: Buffer): void {
  if (!(buffer instanceof ArrayBuffer) || buffer.detached || isMarkedAsUntransferable(buffer)) return;
  buffer.transfer(0);
}
