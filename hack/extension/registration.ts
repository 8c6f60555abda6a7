// Registers a server that runs beside the control plane, the way its manifests for development do: an ExternalName
// Service that leads the aggregator to this machine, and an APIService at the server's port.
import { execFile } from 'node:child_process';
import { namesFor } from '../generate/names.ts';
import { apiServices, developmentService } from '../generate/registration.ts';

/** How to reach the cluster: a kubectl that fits it, and the kubeconfig of an administrator. */
export interface Cluster {
  readonly kubectl: string;
  readonly kubeconfig: string;
}

export interface RegistrationOptions {
  readonly port: number;
  /** PEM of the CA of the serving certificate; without it the server is expected to put its own there. */
  readonly ca?: string;
  readonly signal: AbortSignal;
}

/** Resolves when kube-apiserver says that each of our APIServices is Available. */
export async function register(cluster: Cluster, options: RegistrationOptions): Promise<void> {
  const names = namesFor('platform');
  const services = apiServices(names, options.port);
  if (options.ca !== undefined) {
    for (const { spec } of services)
      Object.assign(spec as object, { caBundle: Buffer.from(options.ca).toString('base64') });
  }
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: names.namespace } };
  await apply(cluster, [namespace, developmentService(names), ...services], options.signal);
  const waited = services.map(({ metadata }) => `apiservice/${metadata.name}`);
  await kubectl(cluster, ['wait', '--for=condition=Available', '--timeout=60s', ...waited], options.signal);
}

/** `kubectl apply` of objects; server-side, so that big ones and those of other owners are no trouble. */
export async function apply(
  cluster: Cluster,
  objects: readonly unknown[],
  signal: AbortSignal,
): Promise<void> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  await kubectl(cluster, ['apply', '--server-side', '--field-manager=development', '-f', '-'], signal, list);
}

/** Standard output of kubectl; rejects with what it said on standard error. */
export function kubectl(
  cluster: Cluster,
  args: readonly string[],
  signal: AbortSignal,
  input = '',
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      cluster.kubectl,
      ['--kubeconfig', cluster.kubeconfig, ...args],
      { signal, maxBuffer: 256 << 20 },
      (error, stdout, stderr) =>
        error === null
          ? resolve(stdout)
          : reject(new Error(`kubectl ${args.join(' ')}: ${stderr}`, { cause: error })),
    );
    child.stdin?.end(input);
  });
}
