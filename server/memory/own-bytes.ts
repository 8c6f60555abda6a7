// Bytes that are kept for long. Node.js makes small buffers, also those of `Buffer.concat`, `Buffer.from` and zlib, as slices of a pool of
// 64 KiB: one that is kept would keep all of it in memory.

/** Bytes of its memory that a buffer need not use. */
const SLACK = 64;

/** Returns the bytes in memory of their own, copied if they are not. */
export function ownBytes(bytes: Buffer): Buffer {
  return bytes.buffer.byteLength <= bytes.length + SLACK ? bytes : copyOf(bytes);
}

/** Returns a copy in memory of its own. */
export function copyOf(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
