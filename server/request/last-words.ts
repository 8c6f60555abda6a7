import type { Duplex } from 'node:stream';

/** How long the other side has to close its own, before the connection is cut. */
const LINGER_MS = 1000;

/**
 * Ends a connection behind what was written on it, and `words`. Closing one with bytes unread resets it, and the other side
 * might lose the answer; not reading, we would never hear that it has gone. So what comes is read on, and dropped.
 */
export function endWith(socket: Duplex, words?: string): void {
  socket.end(words);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
}
