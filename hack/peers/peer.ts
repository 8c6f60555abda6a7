// Other token servers, for the bench: each is a process that reads its configuration from standard input, and ends with
// it. Owns starting and stopping them; their programs are oidc-provider.ts and dex/.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../system/ports.ts';

export interface PeerOptions {
  /** Serving certificate for 127.0.0.1: paths of PEM files. */
  readonly certificate: { readonly cert: string; readonly key: string };
  readonly client: { readonly id: string; readonly secret: string };
  readonly users: readonly string[];
  /** Of all users, in the kind that the peer takes: bcrypt for Dex, argon2id for oidc-provider. */
  readonly passwordHash: string;
  readonly signal: AbortSignal;
}

/** What oidc-provider.ts is told. */
export interface OIDCProviderOptions {
  readonly issuer: string;
  readonly port: number;
  readonly cert: string;
  readonly key: string;
  readonly clientID: string;
  readonly clientSecret: string;
  readonly users: readonly string[];
  readonly passwordHash: string;
}

export interface Peer {
  readonly pid: number;
  readonly url: string;
  /** Of its token endpoint. */
  readonly tokenPath: string;
  stop(): Promise<void>;
}

export async function startOIDCProvider(options: PeerOptions): Promise<Peer> {
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const program = [process.execPath, join(import.meta.dirname, 'oidc-provider.ts')] as const;
  const child = await start(program, { ...told(options), issuer: url, port }, options.signal);
  return peer(child, url, '/token');
}

/** `program` is built by build.ts; `kubeconfig` is for somebody who may define custom resources. */
export async function startDex(options: PeerOptions, program: string, kubeconfig: string): Promise<Peer> {
  const address = `127.0.0.1:${await freePort()}`;
  const child = await start([program], { ...told(options), address, kubeconfig }, options.signal);
  return peer(child, `https://${address}`, '/dex/token');
}

function told({
  certificate,
  client,
  users,
  passwordHash,
}: PeerOptions): Omit<OIDCProviderOptions, 'issuer' | 'port'> {
  return { ...certificate, clientID: client.id, clientSecret: client.secret, users, passwordHash };
}

async function start(
  [command, ...args]: readonly [string, ...string[]],
  configuration: object,
  signal: AbortSignal,
): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], signal });
  child.on('error', () => undefined);
  child.stdin.write(`${JSON.stringify(configuration)}\n`);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const { value } = await lines.next();
  if (value !== 'ready') throw new Error(`${command} did not get ready`);
  return child;
}

function peer(child: ChildProcess, url: string, tokenPath: string): Peer {
  return {
    pid: child.pid ?? 0,
    url,
    tokenPath,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.stdin?.end();
      await exit;
    },
  };
}
