// Finds free loopback ports for child processes, and checks whether programs listen.
import { connect, createServer, type NetConnectOpts } from 'node:net';
import { hasCode } from './error-code.ts';

/**
 * The lowest port. All ports are below the ephemeral range (from 32768 on Linux, from 49152 elsewhere), so that no outgoing
 * connection can occupy the port of a server that restarts.
 */
const LOWEST = 20_000;
const HIGHEST = 32_000;

const SPAN = HIGHEST - LOWEST;
/**
 * Distance between the first ports of processes with consecutive PIDs: the golden section of the range, so that any two
 * processes start far apart.
 */
const STRIDE = 7_417;
let given: number | undefined;

/**
 * Returns a free port of 127.0.0.1 that is not in `except`. Each call returns the next one, and each process starts at
 * another port, so that a port that was returned but is not in use yet is not returned again.
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

/** `forbidden`: privileged port. */
export type PortState = 'free' | 'in use' | 'forbidden';

/** Current state of a port of 127.0.0.1. */
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

/** Whether a program accepts connections at the address. */
export function isListening(target: NetConnectOpts): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(target);
    const end = (open: boolean): void => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

/** The listeners that need a port. */
export const PORT_NAMES = ['etcd', 'etcdPeer', 'apiserver', 'controllerManager', 'kwok'] as const;

type PortName = (typeof PORT_NAMES)[number];

export type Ports = Record<PortName, number>;

/** Assigns all ports: reuses the saved ones that are free. */
export async function choosePorts(saved: Partial<Ports>): Promise<Ports> {
  const taken = new Set<number>();
  const next = async (name: PortName): Promise<number> => {
    const port = await freeAgain(saved[name], taken);
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

/** The saved port if it is free, else another one. */
export async function freeAgain(port: number | undefined, taken: ReadonlySet<number>): Promise<number> {
  return port !== undefined && !taken.has(port) && (await isFree(port)) ? port : freePort(taken);
}

/** Returns `count` different free ports. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    ports.add(await freePort(ports));
  }
  return [...ports];
}
