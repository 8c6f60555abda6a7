import { createServer } from 'node:net';
import { hasCode } from './error-code.ts';

/**
 * Ports are taken from below the range that systems hand out to outgoing
 * connections (32768 and up on Linux, 49152 elsewhere). So no connection can
 * sit on the port of a server that is about to be restarted on it.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

const SPAN = HIGHEST - LOWEST;
/** The golden section of the range: however many processes lie between two, these begin far apart. */
const STRIDE = 7_417;
let given: number | undefined;

/**
 * A port of 127.0.0.1 that nobody listens on right now, none of `except`. Each call gives the next one, and each
 * process begins elsewhere: a port that was given and is not in use yet is not given again, here or by another process.
 */
export async function freePort(except: ReadonlySet<number> = new Set()): Promise<number> {
  for (let attempt = 0; attempt < SPAN; attempt++) {
    given = ((given ?? process.pid * STRIDE) + 1) % SPAN;
    const port = LOWEST + given;
    if (!except.has(port) && (await isFree(port))) return port;
  }
  throw new Error(`no free port on 127.0.0.1 between ${LOWEST} and ${HIGHEST}`);
}

async function isFree(port: number): Promise<boolean> {
  return (await stateOf(port)) === 'free';
}

/** `forbidden`: systems keep low ports for the administrator. */
export type PortState = 'free' | 'in use' | 'forbidden';

/** Of a port of 127.0.0.1, right now. */
export function stateOf(port: number): Promise<PortState> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => {
      if (hasCode(error, 'EADDRINUSE')) resolve('in use');
      else if (hasCode(error, 'EACCES')) resolve('forbidden');
      else reject(error);
    });
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve('free')));
  });
}

/** Which listeners there are; each has a port of its own. */
export const PORT_NAMES = ['etcd', 'etcdPeer', 'apiserver', 'controllerManager', 'kwok'] as const;

export type PortName = (typeof PORT_NAMES)[number];

export type Ports = Record<PortName, number>;

/** Decides all ports: a remembered one is taken again when it is still free, the rest is chosen anew. */
export async function choosePorts(remembered: Partial<Ports>): Promise<Ports> {
  const taken = new Set<number>();
  const next = async (name: PortName): Promise<number> => {
    const port = await freeAgain(remembered[name], taken);
    taken.add(port);
    return port;
  };
  return {
    etcd: await next('etcd'),
    etcdPeer: await next('etcdPeer'),
    apiserver: await next('apiserver'),
    controllerManager: await next('controllerManager'),
    kwok: await next('kwok'),
  };
}

/** The remembered port where it can still be had, or another one. */
export async function freeAgain(port: number | undefined, taken: ReadonlySet<number>): Promise<number> {
  return port !== undefined && !taken.has(port) && (await isFree(port)) ? port : freePort(taken);
}

/** As many different ports that nobody listens on right now. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    ports.add(await freePort(ports));
  }
  return [...ports];
}
