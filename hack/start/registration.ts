// Registers our server in the local cluster: the development manifests, and an account to try it with.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stringify } from 'yaml';
import { array, record, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { groupName, VERSION } from '../../apis/resources/v1alpha3/group-version.ts';
import { type ControlPlane } from '../control-plane/control-plane.ts';
import { groupVersionsOf } from '../generate/groups.ts';
import { developmentManifests } from '../generate/manifests.ts';
import type { Names } from '../generate/names.ts';
import { runCommand } from '../system/command.ts';

/** May read nodes, metrics, and what people in namespaces read, logs among it; its tokens are for curl. */
export const DEVELOPER = 'developer';

/** How long kube-apiserver may take to find that our server answers, in ms. */
const AVAILABLE_TIMEOUT_MS = 120_000;
const DESCRIBED_TIMEOUT_MS = 20_000;
const POLL_MS = 50;

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

/**
 * Until kube-apiserver passes requests for our groups on to us. The condition alone would not do: right after a start it
 * is still the old one.
 */
export async function untilAvailable(cp: ControlPlane, names: Names, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + AVAILABLE_TIMEOUT_MS;
  for (const { apiService: name, group, version } of groupVersionsOf(names)) {
    for (;;) {
      const answer = await cp.client.send(`/apis/${group}/${version}`, { signal });
      const state: unknown = await cp.client.get(
        `/apis/apiregistration.k8s.io/v1/apiservices/${name}`,
        signal,
      );
      const { available, message } = conditionOf(state);
      if (answer.status === 200 && available) break;
      if (performance.now() > deadline)
        throw new Error(`the APIService ${name} did not become Available: ${message}`);
      await delay(POLL_MS, undefined, { signal });
    }
  }
}

/**
 * Until kube-apiserver describes our group in its OpenAPI, for `kubectl explain`. It asks for that in its own time;
 * false when that is too long to wait.
 */
export async function untilDescribed(cp: ControlPlane, names: Names, signal: AbortSignal): Promise<boolean> {
  const deadline = performance.now() + DESCRIBED_TIMEOUT_MS;
  const path = `apis/${groupName(names.platform)}/${VERSION}`;
  while (performance.now() < deadline) {
    const { paths } = record(await cp.client.get('/openapi/v3', signal));
    if (Object.hasOwn(record(paths), path)) return true;
    await delay(POLL_MS, undefined, { signal });
  }
  return false;
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

function developerAccount({ platform, namespace }: Names): string[] {
  const binding = (role: string) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${role}:${DEVELOPER}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name: DEVELOPER, namespace }],
  });
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: DEVELOPER, namespace } },
    binding(`${platform}-nodes-reader`),
    binding(`${platform}-metrics-reader`),
    binding(`${platform}-logs-reader`),
    // With it, the logs of all pods.
    binding('view'),
  ].map((document) => stringify(document));
}

/** The condition Available, and what it says for people. */
function conditionOf(apiService: unknown): { available: boolean; message: string } {
  const conditions = array(recordIn(apiService, 'status')['conditions']).map(record);
  const condition = conditions.find(({ type }) => type === 'Available') ?? {};
  return {
    available: condition['status'] === 'True',
    message: text(condition['message']) || 'kube-apiserver gave no reason',
  };
}
