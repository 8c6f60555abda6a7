// Starts Dex and oidc-provider as child processes. The bench compares their token endpoints with ks-apiserver.
import { join } from 'node:path';
import { type LineProtocolProgram, startLineProtocolProgram } from '../system/line-protocol-program.ts';
import { freePort } from '../system/ports.ts';

export interface PeerOptions {
  /** Serving certificate for 127.0.0.1: paths of PEM files. */
  readonly certificate: { readonly cert: string; readonly key: string };
  readonly client: { readonly id: string; readonly secret: string };
  readonly users: readonly string[];
  /** Password hash of all users: bcrypt for Dex, argon2id for oidc-provider. */
  readonly passwordHash: string;
  readonly signal: AbortSignal;
}

/** Configuration of oidc-provider.ts. */
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
  /** Path of its token endpoint. */
  readonly tokenPath: string;
  stop(): Promise<void>;
}

export async function startOIDCProvider(options: PeerOptions): Promise<Peer> {
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const program = startLineProtocolProgram(
    process.execPath,
    [join(import.meta.dirname, 'oidc-provider.ts')],
    options.signal,
  );
  return ready(program, { ...commonConfiguration(options), issuer: url, port }, url, '/token');
}

/** `program`: built by build.ts; `kubeconfig`: of a user with permission to create custom resource definitions. */
export async function startDex(options: PeerOptions, program: string, kubeconfig: string): Promise<Peer> {
  const address = `127.0.0.1:${await freePort()}`;
  const dex = startLineProtocolProgram(program, [], options.signal);
  return ready(
    dex,
    { ...commonConfiguration(options), address, kubeconfig },
    `https://${address}`,
    '/dex/token',
  );
}

function commonConfiguration({
  certificate,
  client,
  users,
  passwordHash,
}: PeerOptions): Omit<OIDCProviderOptions, 'issuer' | 'port'> {
  return { ...certificate, clientID: client.id, clientSecret: client.secret, users, passwordHash };
}

async function ready(
  program: LineProtocolProgram,
  configuration: object,
  url: string,
  tokenPath: string,
): Promise<Peer> {
  program.send(JSON.stringify(configuration));
  const said = await program.line();
  if (said !== 'ready') throw new Error(`${url} is not ready: ${said}`);
  return { pid: program.pid, url, tokenPath, stop: () => program.end() };
}
