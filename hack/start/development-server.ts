// Our server as a child process of the development environment: its configuration, its ports, and when it is ready.
// What it serves is decided by the kubeconfig that it is given.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { apiVersionOf, KIND } from '../../apis/config/v1alpha1/configuration.ts';
import { Client } from '../control-plane/client.ts';
import type { ProgramFiles } from '../control-plane/folder.ts';
import { END_WITH_PARENT, serverCommand } from '../extension/server-command.ts';
import type { Names } from '../generate/names.ts';
import { Daemon, type DaemonError } from '../system/daemon.ts';
import { chooseServerPorts, type ServerPorts } from './server-ports.ts';

/** It takes a second or two; but machines are busy, too. */
const READY_TIMEOUT_MS = 120_000;

export interface DevelopmentServer {
  readonly configFile: string;
  /** The CA of its certificate, once it runs. */
  readonly caFile: string;
  readonly ports: ServerPorts;
  /** By its address: `localhost` is ::1 alone on some machines, where nobody listens. */
  readonly issuer: string;
}

export interface ServerOptions {
  /** Where its configuration and its CA are kept across starts. */
  readonly dir: string;
  readonly names: Names;
  readonly kubeconfig: string;
  readonly port: number | undefined;
  /** Whether it keeps the caBundle of an APIService. */
  readonly registered: boolean;
}

/** Chooses the ports and writes the configuration file. */
export async function prepareServer(options: ServerOptions): Promise<DevelopmentServer> {
  const { dir, names } = options;
  const certificates = join(dir, 'certificates');
  await mkdir(certificates, { recursive: true, mode: 0o700 });
  const ports = await chooseServerPorts(join(dir, 'ports.json'), options.port);
  const configFile = join(dir, 'config.yaml');
  const address = '127.0.0.1';
  const issuer = `https://${address}:${ports.secure}/oauth`;
  const configuration = {
    apiVersion: apiVersionOf(names.platform),
    kind: KIND,
    platform: { name: names.platform, namespace: names.namespace },
    listeners: {
      secure: { address, port: ports.secure, selfSigned: { directory: certificates } },
      insecure: { address, port: ports.insecure },
    },
    kubernetes: { kubeconfig: options.kubeconfig },
    registration: { manageCABundle: options.registered },
    // It keeps keys, users and sessions in the cluster; one that is only looked at is left as it is.
    oauth: { enabled: options.registered, issuer },
    shutdown: { readinessDelay: '0s', timeout: '5s' },
    log: { format: 'text' },
  };
  await writeFile(configFile, `# Written by npm start.\n${stringify(configuration)}`);
  return { configFile, caFile: join(certificates, 'serving-ca.crt'), ports, issuer };
}

/** The server as a program that is started until it is ready, and watched. */
export function serverDaemon(
  root: string,
  server: DevelopmentServer,
  place: ProgramFiles,
  failed: (error: DaemonError) => void,
): Daemon {
  const { args, env } = serverCommand(root, END_WITH_PARENT);
  return new Daemon(
    {
      name: 'ks-apiserver',
      command: process.execPath,
      args: [...args, '--config', server.configFile],
      env,
      channel: true,
      ...place,
      ready: (signal) => isReady(server, signal),
      readyTimeoutMs: READY_TIMEOUT_MS,
    },
    failed,
  );
}

/** Its CA is made at its first start, so until then there is nothing to trust, and it is not ready. */
export async function isReady(server: DevelopmentServer, signal: AbortSignal): Promise<boolean> {
  const ca = await readFile(server.caFile, 'utf8');
  using client = new Client(`https://127.0.0.1:${server.ports.secure}`, { ca }, 1);
  return (await client.send('/readyz', { signal })).status === 200;
}
