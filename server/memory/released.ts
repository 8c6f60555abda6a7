import { isMarkedAsUntransferable } from 'node:worker_threads';

/**
 * Releases the memory of a buffer at once, with everything that it is a slice of, which must not be read any more: the
 * garbage collector lets 64 MB gather before it looks for older buffers. Node's shared pool for small buffers, which is
 * marked as untransferable, stays.
 */
export function release({ buffer }: Buffer): void {
  if (!(buffer instanceof ArrayBuffer) || buffer.detached || isMarkedAsUntransferable(buffer)) return;
  buffer.transfer(0);
}
