/**
 * Gives the memory of a buffer back at once, and all that it is a piece of, which nobody may read any more: the garbage
 * collector lets 64 MB gather before it looks for buffers that are not quite new.
 */
export function release({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}

/** The same for a piece of what was read from a socket. It may be of memory that Node shares out to small buffers of anybody. */
export function releaseRead(piece: Buffer): void {
  const { byteLength } = piece.buffer;
  // What is shared out is of this size, and no piece of it is all of it.
  if (byteLength !== Buffer.poolSize || piece.length === byteLength) release(piece);
}
