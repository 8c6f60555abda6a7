// What the local cluster is told about our server: the development manifests, and an account to try it with.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { apiServiceName } from '../../apis/resources/v1alpha3/group-version.ts';
import { runCommand } from '../command.ts';
import { type ControlPlane } from '../control-plane/control-plane.ts';
import { developmentManifests } from '../generate/manifests.ts';
import type { Names } from '../generate/names.ts';

/** May read nodes and metrics; its tokens are for curl. */
export const DEVELOPER = 'developer';

/** How long kube-apiserver may take to find that our server answers. */
const AVAILABLE_TIMEOUT = '60s';

/** Applies everything that the server needs before it starts. */
export async function applyManifests(
  cp: ControlPlane,
  options: { dir: string; names: Names; port: number; signal: AbortSignal },
): Promise<void> {
  const file = join(options.dir, 'manifests.yaml');
  const documents = [developmentManifests(options.names, options.port), ...developerAccount(options.names)];
  await writeFile(file, documents.join('---\n'));
  await kubectl(cp, options.signal, [
    'apply',
    '--server-side',
    '--force-conflicts',
    '--field-manager=ks-apiserver-development',
    '-f',
    file,
  ]);
}

/** Until kube-apiserver passes requests for our group on to us. */
export async function untilAvailable(cp: ControlPlane, names: Names, signal: AbortSignal): Promise<void> {
  const name = apiServiceName(names.platform);
  try {
    await kubectl(cp, signal, [
      'wait',
      '--for=condition=Available',
      `--timeout=${AVAILABLE_TIMEOUT}`,
      `apiservice/${name}`,
    ]);
  } catch (error) {
    signal.throwIfAborted();
    const state: unknown = await cp.client.get(`/apis/apiregistration.k8s.io/v1/apiservices/${name}`, signal);
    throw new Error(`the APIService ${name} did not become Available: ${conditionOf(state)}`, {
      cause: error,
    });
  }
}

async function kubectl(cp: ControlPlane, signal: AbortSignal, args: readonly string[]): Promise<void> {
  const common = ['--kubeconfig', cp.kubeconfig, '--cache-dir', join(cp.dir, 'kubectl')];
  const { code, output } = await runCommand(cp.kubectl, [...common, ...args], {
    cwd: cp.dir,
    env: process.env,
    signal,
    output: 'collect',
  });
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} failed: ${output.trim()}`);
}

function developerAccount({ namespace }: Names): string[] {
  const binding = (role: string) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${role}:${DEVELOPER}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: DEVELOPER, namespace }],
  });
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: DEVELOPER, namespace } },
    binding('platform-nodes-reader'),
    binding('platform-metrics-reader'),
  ].map((document) => stringify(document));
}

/** What the condition says, for people. */
function conditionOf(apiService: unknown): string {
  const status = field(apiService, 'status');
  const conditions = field(status, 'conditions');
  const available: unknown = Array.isArray(conditions)
    ? conditions.find((condition) => field(condition, 'type') === 'Available')
    : undefined;
  const message = field(available, 'message');
  return typeof message === 'string' ? message : 'kube-apiserver gave no reason';
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
