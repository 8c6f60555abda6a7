import type { IncomingMessage } from 'node:http';
import { Pacer } from '../../concurrency/pacer.ts';

/** Nothing came for too long: the connection counts as dead although nobody has closed it. */
export class StalledError extends Error {
  constructor(idleMs: number) {
    super(`nothing was received for ${idleMs} ms`);
    this.name = 'StalledError';
  }
}

/**
 * The chunks of an answer, for as long as each comes within `idleMs` of the one before. Ends normally when the body
 * does, also when the other side merely hung up cleanly. Leaves room for others between the chunks; leaving the loop
 * early destroys the answer.
 */
export async function* liveBody(response: IncomingMessage, idleMs: number): AsyncGenerator<Buffer> {
  const pacer = new Pacer();
  // While a chunk is worked on nobody waits for the other side.
  let isWaiting = true;
  const timer = setTimeout(() => {
    if (isWaiting) response.destroy(new StalledError(idleMs));
  }, idleMs);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      isWaiting = false;
      yield chunk;
      if (pacer.spent) await pacer.breathe();
      isWaiting = true;
      timer.refresh();
    }
  } finally {
    clearTimeout(timer);
    response.destroy();
  }
}
