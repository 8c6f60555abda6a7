// Tests that each overlay and each component of the manifests installs a working server on a real cluster.
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { provideDefinitions } from '../../hack/artifacts/custom-resource-definitions.ts';
import type { Cluster } from '../../hack/cluster/cluster.ts';
import { NAMESPACE, NODES, ROOT, sharedCluster } from './shared-cluster.ts';

const MANIFESTS = join(ROOT, 'manifests');

/** A folder of the manifests, and its effect: a command of kubectl with its output. */
type Variant = readonly [folder: string, command: string, output: RegExp];

const SERVICE = `get service -n ${NAMESPACE} ks-apiserver`;
const IMPERSONATOR = `get role -n ${NAMESPACE} ks-apiserver-impersonator -o name`;

/** Neighbours have the same pods, so that only `no-plain-http` replaces them. */
const VARIANTS: readonly Variant[] = [
  ['overlays/node-port', SERVICE, /\sNodePort\s/],
  ['components/node-port', SERVICE, /\sNodePort\s/],
  ['components/gateway-constrained-impersonation', IMPERSONATOR, /^role/],
  ['components/gateway-impersonation', IMPERSONATOR, /^role/],
  // Its image is not available here.
  ['components/headlamp', `delete deployment,service,serviceaccount -n ${NAMESPACE} headlamp`, /^deployment/],
  ['components/monitoring', `get servicemonitor -n ${NAMESPACE} -o name`, /\/ks-apiserver$/m],
  ['components/network-policy', `get networkpolicy -n ${NAMESPACE} -o name`, /\/ks-apiserver$/m],
  [
    'components/no-pod-logs',
    'get clusterrole platform:ks-apiserver:pod-logs -o jsonpath={.rules}',
    /^(?:\[\]|null)?$/,
  ],
  [
    'components/no-view',
    'get clusterrolebinding platform:ks-apiserver:view -o jsonpath={.subjects}',
    /^(?:\[\]|null)?$/,
  ],
  ['components/node-usage', 'get clusterrole platform:ks-apiserver:node-usage -o name', /^clusterrole/],
  ['components/priority-quota', `get resourcequota -n ${NAMESPACE} -o name`, /\/ks-apiserver$/m],
  ['overlays/no-plain-http', SERVICE, /\s443\/TCP\s/],
  ['components/no-plain-http', SERVICE, /\s443\/TCP\s/],
];

/** Runs the server as a process of the host, not in pods. */
const WITHOUT_PODS = 'overlays/development';

describe('the variants of the manifests', () => {
  let cluster: Cluster;
  let folder: string;

  before(async () => {
    cluster = sharedCluster();
    folder = await mkdtemp(join(tmpdir(), 'variants-'));
    await cp(MANIFESTS, join(folder, 'manifests'), { recursive: true });
    const signal = AbortSignal.timeout(60_000);
    const definitions = await provideDefinitions('Prometheus Operator', {
      env: process.env,
      signal,
      progress: () => undefined,
    });
    await cluster.kubectl('apply', '--server-side', '-f', definitions);
  });
  after(() => rm(folder, { recursive: true }));

  for (const [variant, command, output] of VARIANTS) {
    it(`install with ${variant}`, async () => {
      const isOverlay = variant.startsWith('overlays/');
      const resources = [`manifests/${isOverlay ? variant : 'base'}`];
      const components = isOverlay ? [] : [`manifests/${variant}`];
      await writeFile(join(folder, 'kustomization.yaml'), stringify({ resources, components }));
      await cluster.applyOverlay(folder);
      expect(await cluster.kubectl(...command.split(' '))).to.match(output);
      expect(await cluster.kubectl('get', NODES)).to.match(/^ks-node\s/m);
    });
  }

  it('are all tested', async () => {
    const folders = ['overlays', 'components'].map(async (parent) =>
      (await readdir(join(MANIFESTS, parent))).map((name) => `${parent}/${name}`),
    );
    const all = (await Promise.all(folders)).flat().filter((name) => name !== WITHOUT_PODS);
    expect(VARIANTS.map(([variant]) => variant)).to.have.members(all);
  });
});
