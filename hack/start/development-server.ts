// Configures the server process of `npm start`, and checks whether the server is ready.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { apiVersionOf, KIND } from '../../apis/config/v1alpha1/configuration.ts';
import { Client } from '../control-plane/client.ts';
import type { ProgramFiles } from '../control-plane/folder.ts';
import { openServingFiles } from '../control-plane/pki.ts';
import { END_WITH_PARENT, serverCommand } from '../extension/server-command.ts';
import { type Names, SERVER } from '../generate/names.ts';
import { Daemon, type DaemonError } from '../system/daemon.ts';
import { chooseServerPorts, type ServerPorts } from './server-ports.ts';

/** A start takes a second or two; the timeout is sufficient for a busy machine. */
const READY_TIMEOUT_MS = 120_000;

/** Id of the client of a console that is developed, as in docs/consoles.md. */
const CONSOLE_CLIENT = 'web';

/** Kinds that consoles show: their first list needs no wait. Other kinds are followed on demand. */
const PRELOADED = [
  'configmaps',
  'cronjobs',
  'daemonsets',
  'deployments',
  'events',
  'ingresses',
  'jobs',
  'namespaces',
  'persistentvolumeclaims',
  'pods',
  'replicasets',
  'services',
  'statefulsets',
];

export interface DevelopmentServer {
  readonly configFile: string;
  /** Arguments of the server: the file, and readable lines of the log. */
  readonly args: readonly string[];
  readonly caFile: string;
  readonly ports: ServerPorts;
  /** Contains 127.0.0.1, because `localhost` is only ::1 on some machines. */
  readonly issuer: string;
}

interface ServerOptions {
  /** Folder of its configuration and its certificates, kept across starts. */
  readonly dir: string;
  readonly names: Names;
  readonly kubeconfig: string;
  readonly port: number | undefined;
  /** Origin of a console that is developed. */
  readonly console?: string | undefined;
  /** Whether it is registered with the aggregation layer and manages spec.caBundle. */
  readonly registered: boolean;
}

/** Chooses the ports and writes the configuration file. */
export async function prepareServer(options: ServerOptions): Promise<DevelopmentServer> {
  const { dir, names } = options;
  const certificate = await openServingFiles(join(dir, 'certificates'), {
    dns: ['localhost', `${SERVER}.${names.namespace}.svc`],
    ip: ['127.0.0.1', '::1'],
  });
  const ports = await chooseServerPorts(join(dir, 'ports.json'), options.port);
  const configFile = join(dir, 'config.yaml');
  const address = '127.0.0.1';
  const issuer = `https://${address}:${ports.secure}/oauth`;
  const allowedOrigins = options.console === undefined ? [] : [options.console];
  const clients = allowedOrigins.map((origin) => ({
    id: CONSOLE_CLIENT,
    displayName: 'Console',
    public: true,
    redirectURIs: [`${origin}/callback`],
    postLogoutRedirectURIs: [`${origin}/`],
  }));
  const configuration = {
    apiVersion: apiVersionOf(names.platform),
    kind: KIND,
    platform: { name: names.platform },
    listeners: {
      secure: {
        address,
        port: ports.secure,
        certFile: certificate.cert,
        keyFile: certificate.key,
        caFile: certificate.ca,
      },
      insecure: { address, port: ports.insecure },
    },
    kubernetes: { kubeconfig: options.kubeconfig },
    // An existing cluster may have many objects.
    resources: {
      preload: options.registered ? PRELOADED : [],
      // The page shows what pods request, because no program of the local cluster measures the usage of nodes.
      nodes: { usageAnnotations: options.registered },
    },
    gateway: { acceleration: true },
    registration: { manageCABundle: options.registered },
    // The authorization server writes keys, users and sessions to the cluster; an existing cluster is not changed.
    oauth: { enabled: options.registered, issuer, clients },
    cors: { allowedOrigins },
    shutdown: { readinessDelay: '0s' },
  };
  await writeFile(configFile, `# Written by npm start.\n${stringify(configuration)}`);
  const args = ['--config', configFile, '--log-format', 'text'];
  return { configFile, args, caFile: certificate.ca, ports, issuer };
}

/** The server as a supervised process. */
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
      args: [...args, ...server.args],
      env,
      channel: true,
      ...place,
      ready: (signal) => isReady(server, signal),
      readyTimeoutMs: READY_TIMEOUT_MS,
    },
    failed,
  );
}

/** Whether /readyz returns 200. Throws while the server does not listen. */
export async function isReady(server: DevelopmentServer, signal: AbortSignal): Promise<boolean> {
  const ca = await readFile(server.caFile, 'utf8');
  using client = new Client(`https://127.0.0.1:${server.ports.secure}`, { ca }, 1);
  return (await client.send('/readyz', { signal })).status === 200;
}

/** Whether kube-apiserver accepts the access tokens of the server, as the server has found. */
export async function areTokensAccepted(
  {
    caFile,
    ports,
    issuer,
  }: Pick<DevelopmentServer, 'caFile' | 'issuer'> & { readonly ports: Pick<ServerPorts, 'secure'> },
  signal: AbortSignal,
): Promise<boolean> {
  using client = new Client(`https://127.0.0.1:${ports.secure}`, { ca: await readFile(caFile, 'utf8') }, 1);
  const { body } = await client.send('/readyz?verbose', { signal });
  // Before its first check, the server says "it is unknown whether kube-apiserver accepts the tokens of …".
  const [, states = ''] = /^\[\+\]gateway ok: (.*)$/m.exec(body) ?? [];
  return states.split('; ').includes(`kube-apiserver accepts the tokens of ${issuer}`);
}
