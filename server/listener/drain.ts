// The graceful stop, in order: readiness fails and responses announce the end of their connection; after a delay for
// load balancers the listening sockets close; watches end; requests in flight finish; the rest is cut at the timeout.
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { pause } from '../concurrency/pause.ts';
import type { Listener } from './listener.ts';

export interface DrainOptions {
  readonly listeners: readonly Pick<
    Listener,
    'endKeepAlive' | 'stopAccepting' | 'closed' | 'destroyConnections'
  >[];
  /** Makes /readyz fail. */
  readonly failReadiness: () => void;
  /** Ends watches and other long-running requests. Returns their number. */
  readonly endStreams: () => number;
  /** Milliseconds between failing readiness and closing the listening sockets. */
  readonly readinessDelay: number;
  /** Milliseconds for requests in flight. */
  readonly timeout: number;
  readonly log: Logger;
}

/** Resolves when every connection is closed. Returns the number of destroyed connections. */
export async function drain(options: DrainOptions): Promise<number> {
  const { listeners, log, readinessDelay, timeout } = options;
  options.failReadiness();
  log.info({ readinessDelay, timeout }, 'stopping: readiness fails');
  for (const listener of listeners) listener.endKeepAlive();
  await delay(readinessDelay);
  for (const listener of listeners) listener.stopAccepting();
  const streams = options.endStreams();
  log.info({ streams }, 'stopping: listeners closed; watches, live tails and exports end');
  const closed = Promise.all(listeners.map((listener) => listener.closed));
  const inTime = new AbortController();
  const late = pause(timeout, inTime.signal).then(() => false);
  const finished = await Promise.race([closed.then(() => true), late]);
  inTime.abort();
  if (finished) return 0;
  const cut = listeners.reduce((sum, listener) => sum + listener.destroyConnections(), 0);
  log.warn({ connections: cut }, 'stopping: connections destroyed after the timeout');
  await closed;
  return cut;
}
