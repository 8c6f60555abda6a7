/**
 * Gives the memory of a buffer back at once, which nobody may read any more: the garbage collector lets 64 MB of them
 * gather before it looks for buffers that are not quite new. Only for buffers that are no piece of another.
 */
export function release({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}
