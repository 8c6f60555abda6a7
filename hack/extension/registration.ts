// Registers a local ks-apiserver with the control plane. kubectl applies the development manifests.
import { execFile } from 'node:child_process';
import { groupVersionsOf } from '../generate/groups.ts';
import { developmentManifests } from '../generate/manifests.ts';
import { type Names, namesFor, SERVER } from '../generate/names.ts';
import { until } from '../system/until.ts';

const NAMES = namesFor('platform');
const PASSED_ON_MS = 60_000;
const POLL_MS = 50;

/** Access to the cluster: a matching kubectl and an administrator's kubeconfig. */
interface Cluster {
  readonly kubectl: string;
  readonly kubeconfig: string;
  /** Names of the installation; by default those of the platform `platform`. */
  readonly names?: Names;
}

/** The ServiceAccount user of the server, so that it has exactly the permissions of the manifests. */
export function serviceAccountOf({ namespace }: Names): { name: string; groups: string[] } {
  return {
    name: `system:serviceaccount:${namespace}:${SERVER}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  };
}

export const SERVICE_ACCOUNT = serviceAccountOf(NAMES);

/** Applies RBAC and the Service; call it before the server starts. */
export async function grant(cluster: Cluster, port: number, signal: AbortSignal): Promise<void> {
  await apply(
    cluster,
    documents(cluster, port, (document) => !isAPIService(document)),
    signal,
  );
}

/**
 * Applies the APIServices; call it when the server responds, because kube-apiserver fetches its OpenAPI at once and
 * retries a failure only after a minute. The server sets the CA bundle.
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
 * Resolves when the APIServices are Available and kube-apiserver forwards requests: its proxy follows the condition
 * with a delay and returns 503 until then.
 */
export async function available(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const served = groupVersionsOf(cluster.names ?? NAMES);
  const services = served.map(({ apiService }) => `apiservice/${apiService}`);
  await kubectl(cluster, ['wait', '--for=condition=Available', '--timeout=120s', ...services], signal);
  for (const { group, version } of served) {
    const answers = (bound: AbortSignal): Promise<boolean> =>
      kubectl(cluster, ['get', '--raw', `/apis/${group}/${version}`], bound).then(() => true);
    await until(answers, { signal, timeoutMs: PASSED_ON_MS, pollMs: POLL_MS });
  }
}

/** `kubectl apply` of YAML or JSON; server-side, so that fields of other managers stay. */
export async function apply(cluster: Cluster, manifests: string, signal: AbortSignal): Promise<void> {
  const args = ['apply', '--server-side', '--force-conflicts', '--field-manager=development', '-f', '-'];
  await kubectl(cluster, args, signal, manifests);
}

/** Resolves with stdout of kubectl; rejects with stderr. */
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
