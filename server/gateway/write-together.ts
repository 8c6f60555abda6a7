// Joins the writes of a pipe, because each one costs a TLS record and a system call.
import type { Readable, Writable } from 'node:stream';

/** Writes the bytes that arrive in one iteration of the event loop together. Must be called before `pipe`. */
export function writeTogether(from: Readable, to: Writable): void {
  from.on('data', () => {
    if (to.writableCorked > 0) return;
    to.cork();
    setImmediate(() => to.uncork());
  });
}
