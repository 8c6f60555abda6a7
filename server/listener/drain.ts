// Stops the listeners gracefully: requests in flight complete before a timeout. At the timeout, the remaining
// connections are destroyed.
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { pause } from '../concurrency/pause.ts';
import type { Listener } from './listener.ts';

/** Most requests end within seconds. With the default `shutdown.readinessDelay` it is half of the grace period of the pod. */
export const DRAIN_TIMEOUT_MS = 20_000;

interface DrainOptions {
  readonly listeners: readonly Pick<
    Listener,
    'endKeepAlive' | 'stopAccepting' | 'closed' | 'destroyConnections'
  >[];
  /** Makes /readyz fail. */
  readonly failReadiness: () => void;
  /** Ends watches and other long-running requests. Returns their number. */
  readonly endStreams: () => number;
  /** Delay between failing readiness and closing the listening sockets, in ms. */
  readonly readinessDelay: number;
  /** Timeout for requests in flight, in ms. */
  readonly timeout: number;
  readonly log: Logger;
}

/** Stops the listeners. Resolves when all connections are closed, with the number of destroyed ones. */
export async function drain(options: DrainOptions): Promise<number> {
  const { listeners, log, readinessDelay, timeout } = options;
  options.failReadiness();
  log.info({ readinessDelay, timeout }, 'stopping: readiness fails');
  for (const listener of listeners) listener.endKeepAlive();
  // Time for load balancers to notice that the server is not ready.
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
