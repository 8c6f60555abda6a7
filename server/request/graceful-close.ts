import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Bounds on what is read from a client after the last response. */
const MAX_DRAINED_BYTES = 16 << 20;
const MAX_DRAIN_MS = 10_000;
/** A client that sends nothing for this long is not awaited. */
const IDLE_MS = 1_000;
const CHECK_MS = 100;

const closing = new WeakSet<Duplex>();

/**
 * Closes a connection in stages (RFC 9112, 9.6): sends `lastBytes` and the end, then discards a bounded amount of input
 * until the client closes its side. Closing with unread input would reset the connection, and the client could lose
 * the response.
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
