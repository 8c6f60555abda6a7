// Closes a connection gracefully: the client can read the last response before the socket is destroyed.
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Limits of the input that is read and discarded after the last response. */
const MAX_DRAINED_BYTES = 16 << 20;
const MAX_DRAIN_MS = 10_000;
/** The connection is destroyed when the client has sent nothing for this time. */
const IDLE_MS = 1_000;
const CHECK_MS = 100;

const closing = new WeakSet<Duplex>();

/**
 * Closes a connection in stages (RFC 9112, 9.6): sends `lastBytes`, closes the write side, then discards a bounded amount of input
 * until the client closes its side. A connection that is closed with unread input is reset, and the client may lose the response.
 */
export function closeGracefully(socket: Duplex, lastBytes?: string): void {
  if (closing.has(socket)) return;
  closing.add(socket);
  if (!socket.writableEnded) socket.end(lastBytes);
  if (socket.destroyed) return;
  const bytesRead = (): number => (socket instanceof Socket ? socket.bytesRead : 0);
  const before = bytesRead();
  const begin = performance.now();
  let [last, lastAt] = [before, begin];
  const timer = setInterval(() => {
    const [bytes, now] = [bytesRead(), performance.now()];
    if (bytes !== last) [last, lastAt] = [bytes, now];
    const isOver =
      now - lastAt >= IDLE_MS || now - begin >= MAX_DRAIN_MS || bytes - before > MAX_DRAINED_BYTES;
    if (isOver) socket.destroy();
  }, CHECK_MS);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
  socket.resume();
}
