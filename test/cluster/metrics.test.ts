// Tests that Prometheus without its operator scrapes the server, with the commands and the configuration of docs/metrics.md.
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { provideGoProgram } from '../../hack/artifacts/go-programs.ts';
import type { Cluster } from '../../hack/cluster/cluster.ts';
import { BUSYBOX_IMAGE } from '../../hack/cluster/stand-in.ts';
import { until } from '../support/until.ts';
import { blocksOf } from './document.ts';
import { InstallationFolder } from './installation-folder.ts';
import { BASE, NAMESPACE, ROOT, sharedCluster } from './shared-cluster.ts';

const MONITORING = 'monitoring';
const EVICTED = 'evicted';
/** Label of a discovered target. */
const POD = '__meta_kubernetes_pod_name';
const RULES = join(ROOT, 'manifests/components/monitoring/rules.yaml');
/** The default interval is a minute. */
const FAST = { global: { scrape_interval: '1s', evaluation_interval: '1s' } };

describe('Prometheus without its operator', () => {
  let cluster: Cluster;
  let folder: InstallationFolder;
  let api: string;

  before('follow the page', async () => {
    cluster = sharedCluster();
    await cluster.applyOverlay(BASE);
    folder = await InstallationFolder.create(cluster);
    await cluster.kubectl('create', 'namespace', MONITORING);
    await cluster.kubectl('create', 'serviceaccount', 'prometheus', `--namespace=${MONITORING}`);
    const blocks = await blocksOf('docs/metrics.md', 'Without the operator');
    const [grants = '', configMap = '', configuration = ''] = blocks;
    await folder.run(grants);
    await folder.run(configMap);
    await apply(evictedPod(), ...(await prometheus(`${stringify(FAST)}${configuration}`)));
    const wait = ['--for=condition=Ready', '--timeout=60s'];
    await cluster.kubectl('wait', '-n', MONITORING, 'pod/prometheus', ...wait);
    const address = ['-n', MONITORING, 'get', 'pod/prometheus', '-o', 'jsonpath={.status.podIP}'];
    api = `http://${await cluster.kubectl(...address)}:9090/api/v1`;
  });
  after(async () => {
    await cluster.kubectl('delete', 'pod', EVICTED, `--namespace=${NAMESPACE}`, '--ignore-not-found');
    await cluster.kubectl('delete', 'namespace', MONITORING, '--ignore-not-found');
    await folder?.[Symbol.asyncDispose]();
  });

  async function apply(...objects: readonly object[]): Promise<void> {
    const file = join(folder.path, 'objects.yaml');
    await writeFile(file, objects.map((object) => stringify(object)).join('---\n'));
    await cluster.kubectl('apply', '-f', file);
  }

  async function get<Data>(path: string): Promise<Data> {
    const response = await fetch(`${api}/${path}`, { signal: AbortSignal.timeout(10_000) });
    const { data } = (await response.json()) as { data: Data };
    return data;
  }

  it('discovers every running pod, and scrapes it', async () => {
    const selector = '--selector=app.kubernetes.io/name=ks-apiserver';
    const names = [
      'get',
      'pods',
      `--namespace=${NAMESPACE}`,
      selector,
      '-o=jsonpath={.items[*].metadata.name}',
    ];
    const pods = (await cluster.kubectl(...names)).split(' ');
    expect(pods).to.have.length(2);
    let targets: Target[] = [];
    await until(async () => {
      const { activeTargets, droppedTargets } = await get<Targets>('targets');
      targets = activeTargets;
      const evicted = droppedTargets.find(({ discoveredLabels }) => discoveredLabels[POD] === EVICTED);
      return evicted !== undefined && targets.every(({ health }) => health !== 'unknown');
    });
    expect(
      targets.map(({ health, lastError, labels }) => ({ health, lastError, pod: labels['pod'] })),
    ).to.have.deep.members(pods.map((pod) => ({ health: 'up', lastError: '', pod })));
    for (const { labels } of targets) {
      expect(labels).to.include({ job: 'ks-apiserver', namespace: NAMESPACE });
    }
  });

  it('evaluates every rule', async () => {
    const { groups: expected } = parse(await readFile(RULES, 'utf8')) as { groups: Group[] };
    let groups: Group[] = [];
    await until(async () => {
      ({ groups } = await get<{ groups: Group[] }>('rules'));
      return groups.flatMap(({ rules }) => rules).every(({ health }) => health !== 'unknown');
    });
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.filter(({ health }) => health !== 'ok')).to.deep.equal([]);
    const named = expected.flatMap((group) => group.rules.map(({ alert, record }) => alert ?? record));
    expect(rules.map(({ name }) => name)).to.have.members(named);
    // The rate needs two scrapes.
    await until(async () => {
      const query = 'query?query=namespace_job:apiserver_request:rate5m';
      return (await get<{ result: object[] }>(query)).result.length === 1;
    });
  });
});

/** A pod with the name of our port that has failed. kubelet leaves such a pod when it evicts one. */
function evictedPod(): object {
  const container = {
    name: EVICTED,
    image: BUSYBOX_IMAGE,
    command: ['false'],
    ports: [{ name: 'https', containerPort: 9443 }],
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const securityContext = { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: EVICTED, namespace: NAMESPACE },
    spec: { restartPolicy: 'Never', securityContext, containers: [container] },
  };
}

/** A pod of Prometheus with its configuration. The program is on the node; it needs no libraries. */
async function prometheus(configuration: string): Promise<object[]> {
  const signal = AbortSignal.timeout(60_000);
  const program = await provideGoProgram('prometheus', {
    env: process.env,
    signal,
    progress: () => undefined,
  });
  const metadata = { name: 'prometheus', namespace: MONITORING };
  const mounts = [
    { name: 'program', mountPath: '/opt/prometheus' },
    { name: 'configuration', mountPath: '/etc/prometheus' },
    { name: 'ks-apiserver', mountPath: '/etc/prometheus/ks-apiserver' },
    { name: 'data', mountPath: '/data' },
  ];
  const container = {
    name: 'prometheus',
    image: BUSYBOX_IMAGE,
    command: ['/opt/prometheus/prometheus'],
    args: ['--config.file=/etc/prometheus/prometheus.yaml', '--storage.tsdb.path=/data'],
    readinessProbe: { httpGet: { path: '/-/ready', port: 9090 }, periodSeconds: 1 },
    volumeMounts: mounts,
  };
  const volumes = [
    { name: 'program', hostPath: { path: dirname(program) } },
    { name: 'configuration', configMap: { name: 'prometheus' } },
    { name: 'ks-apiserver', configMap: { name: 'ks-apiserver' } },
    { name: 'data', emptyDir: {} },
  ];
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'prometheus.yaml': configuration } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: {
        serviceAccountName: 'prometheus',
        terminationGracePeriodSeconds: 0,
        containers: [container],
        volumes,
      },
    },
  ];
}

interface Target {
  readonly health: string;
  readonly lastError: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Targets {
  readonly activeTargets: Target[];
  readonly droppedTargets: readonly { readonly discoveredLabels: Readonly<Record<string, string>> }[];
}

interface Group {
  readonly rules: readonly {
    readonly name?: string;
    readonly alert?: string;
    readonly record?: string;
    readonly health?: string;
  }[];
}
