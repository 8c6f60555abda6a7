// Registers a server that runs beside the control plane, by the manifests for development: its rights, an
// ExternalName Service that leads the aggregator to this machine, and an APIService at the server's port.
import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { groupVersionsOf } from '../generate/groups.ts';
import { developmentManifests } from '../generate/manifests.ts';
import { type Names, namesFor, SERVER } from '../generate/names.ts';

const NAMES = namesFor('platform');
const PASSED_ON_MS = 60_000;
const POLL_MS = 50;

/** How to reach the cluster: a matching kubectl, and the kubeconfig of an administrator. */
export interface Cluster {
  readonly kubectl: string;
  readonly kubeconfig: string;
  /** Of the installation; those of a platform called `platform` unless told otherwise. */
  readonly names?: Names;
}

/** Who the server is in the cluster, so that it has exactly the rights that it is shipped with. */
export function serviceAccountOf({ namespace }: Names): { name: string; groups: string[] } {
  return {
    name: `system:serviceaccount:${namespace}:${SERVER}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  };
}

export const SERVICE_ACCOUNT = serviceAccountOf(NAMES);

/** Before the server starts: its rights, and the Service that leads to it. */
export async function grant(cluster: Cluster, port: number, signal: AbortSignal): Promise<void> {
  await apply(
    cluster,
    documents(cluster, port, (document) => !isAPIService(document)),
    signal,
  );
}

/**
 * Once the server answers: kube-apiserver asks for its OpenAPI at once, and after a failure only a minute later. The
 * CA bundle is left to the server.
 */
export async function register(cluster: Cluster, port: number, signal: AbortSignal): Promise<void> {
  await apply(cluster, documents(cluster, port, isAPIService), signal);
}

function documents({ names = NAMES }: Cluster, port: number, chosen: (document: string) => boolean): string {
  return developmentManifests(names, port).split('---\n').filter(chosen).join('---\n');
}

function isAPIService(document: string): boolean {
  return /^kind: APIService$/m.test(document);
}

/**
 * Resolves when kube-apiserver says that our APIs are Available and passes requests on to us: its proxy follows the
 * condition a little later, and answers 503 until then.
 */
export async function available(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const served = groupVersionsOf(cluster.names ?? NAMES);
  const services = served.map(({ apiService }) => `apiservice/${apiService}`);
  await kubectl(cluster, ['wait', '--for=condition=Available', '--timeout=120s', ...services], signal);
  for (const { group, version } of served) {
    const bound = AbortSignal.any([signal, AbortSignal.timeout(PASSED_ON_MS)]);
    const asked = ['get', '--raw', `/apis/${group}/${version}`];
    const answers = (): Promise<boolean> =>
      kubectl(cluster, asked, bound).then(
        () => true,
        () => {
          bound.throwIfAborted();
          return false;
        },
      );
    while (!(await answers())) await delay(POLL_MS, undefined, { signal: bound });
  }
}

/** `kubectl apply` of YAML or JSON; server-side, so that members stay that others alone have written. */
export async function apply(cluster: Cluster, manifests: string, signal: AbortSignal): Promise<void> {
  const args = ['apply', '--server-side', '--force-conflicts', '--field-manager=development', '-f', '-'];
  await kubectl(cluster, args, signal, manifests);
}

/** Standard output of kubectl; rejects with what it said on standard error. */
function kubectl(
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
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`kubectl ${args.join(' ')}: ${stderr}`, { cause: error }));
      },
    );
    child.stdin?.end(input);
  });
}
