// Tests that clients of three replicas under steady load do not notice disruptions.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { parse, stringify } from 'yaml';
import { record, recordIn } from '../../apis/reading/unknown-value.ts';
import { type TokenAnswer, TokenClient } from '../../hack/bench/measuring/token-client.ts';
import { addUsers, PASSWORD, untilSynced } from '../../hack/bench/scene/crowd.ts';
import { type Cluster, SERVER_NAME } from '../../hack/cluster/cluster.ts';
import { CertificateAuthority } from '../../hack/control-plane/certificate-authority.ts';
import { Client } from '../../hack/control-plane/client.ts';
import { until } from '../support/until.ts';
import { blockWith } from './document.ts';
import { EndpointLog } from './endpoint-log.ts';
import { InstallationFolder } from './installation-folder.ts';
import { NAMESPACE, sharedCluster } from './shared-cluster.ts';
import { type Counts, REFRESHED, SteadyLoad, TRAFFIC, USERS } from './steady-load.ts';

const REPLICAS = 3;
/** User of a session that starts before the disruptions, and is refreshed after them. */
const EARLY = 'traffic-early';
/** Pod that kubelet evicts. */
const VICTIM = 'victim';
const PODS = ['get', 'pods', '--selector=app.kubernetes.io/name=ks-apiserver', '-o'] as const;
/** Errors of connections to a killed replica. kube-apiserver responds with this 503 if its connection fails. */
const CUT =
  /socket hang up|disconnected before secure TLS connection|aborted|ECONNRESET|ECONNREFUSED|EPIPE|: 503 error trying to reach service: .*(?:refused|reset|EOF)/;

/** Limits the memory of a process (cgroup v1 or v2), and allocates more. The kernel kills the largest process. */
const OUT_OF_MEMORY = `
v1=$(sed -n 's/^[0-9]*:memory://p' /proc/$1/cgroup)
cd /sys/fs/cgroup/memory$v1 2>/dev/null || cd /sys/fs/cgroup$(sed -n 's/^0:://p' /proc/$1/cgroup)
echo $$ >cgroup.procs
until cat memory.usage_in_bytes >memory.limit_in_bytes || cat memory.current >memory.max; do :; done 2>/dev/null
dd if=/dev/zero of=/dev/null bs=200M count=1 || true`;

/** Grows a file until 5 % of the disk of the node is free. Then kubelet deletes unused images, and evicts pods. */
const FILL = `
set -- $(df --block-size=1M --output=avail,size /run | tail -n 1) $(du --block-size=1M /run/filler 2>/dev/null)
fallocate --length $(($1 - $2 / 20 + \${3:-0}))M /run/filler`;

describe('a disruption', () => {
  let cluster: Cluster;
  let admin: Client;
  let folder: InstallationFolder;
  let load: SteadyLoad;
  let endpoints: EndpointLog;
  let tokens: TokenClient;
  let early: TokenAnswer;
  const rows: string[] = [];
  const kubectl = (...args: string[]): Promise<string> => cluster.kubectl('-n', NAMESPACE, ...args);
  const inTraffic = (...args: string[]): Promise<string> => cluster.kubectl('-n', TRAFFIC, ...args);

  before('install three replicas, and start the load', async () => {
    cluster = sharedCluster();
    folder = await InstallationFolder.create(cluster);
    const service = await install();
    await kubectl('create', 'namespace', TRAFFIC);
    await inTraffic('create', 'serviceaccount', TRAFFIC);
    const subject = `--serviceaccount=${TRAFFIC}:${TRAFFIC}`;
    await kubectl('create', 'clusterrolebinding', TRAFFIC, '--clusterrole=cluster-admin', subject);
    const count = 'i=0; while echo line $i; do i=$((i+1)); sleep 0.2; done';
    // kubelet evicts no pod of this priority.
    const spec = { spec: { priorityClassName: 'system-cluster-critical' } };
    const critical = ['--image=busybox:1', `--overrides=${JSON.stringify(spec)}`];
    await inTraffic('run', TRAFFIC, ...critical, '--', 'sh', '-c', count);
    await inTraffic('wait', `pod/${TRAFFIC}`, '--for=condition=Ready', '--timeout=60s');
    const token = (await inTraffic('create', 'token', TRAFFIC)).trim();
    const server = administrator();
    admin = new Client(server.url, server);
    tokens = await TokenClient.connect(service.url, join(folder.path, 'ca.crt'), 4);
    await addUsers({ cluster: admin }, [...USERS, REFRESHED, EARLY]);
    for (const user of [REFRESHED, EARLY]) await untilSynced(tokens, AbortSignal.timeout(60_000), user);
    early = await tokens.signIn(EARLY, PASSWORD);
    endpoints = await EndpointLog.start(cluster);
    load = await SteadyLoad.start({ cluster: server, service: { ...service, token }, tokens });
    await settled();
    load.take();
  });

  after(async () => {
    await load[Symbol.asyncDispose]();
    endpoints[Symbol.dispose]();
    tokens.close();
    admin.close();
    await inTraffic('delete', 'pod', TRAFFIC, '--now');
    const kinds = 'users.iam.platform.io,credentials.iam.platform.io';
    await kubectl('delete', kinds, ...USERS, REFRESHED, EARLY, '--ignore-not-found');
    await kubectl('delete', `namespace/${TRAFFIC}`, `clusterrolebinding/${TRAFFIC}`, '--wait=false');
    await folder[Symbol.asyncDispose]();
    console.log('| disruption | requests | new connections | failed | streams resumed | duration |');
    console.log(['|---|---|---|---|---|---|', ...rows].join('\n'));
  });

  it('is not noticed in a rolling update to another configuration', () =>
    measure('rolling update to another configuration', async () => {
      await writeConfiguration('11s');
      await folder.run('kubectl apply -k .');
    }));

  it('is not noticed after the deletion of a pod', () =>
    measure('deletion of a pod', async () => kubectl('delete', 'pod', await anyPod(), '--wait=false')));

  it('is not noticed after an eviction; the PodDisruptionBudget prevents a second eviction', () =>
    measure('eviction', async () => {
      const statuses = [];
      for (const pod of (await pods()).slice(0, 2)) statuses.push((await evict(pod)).status);
      expect(statuses).to.deep.equal([201, 429]);
    }));

  it('is not noticed when kubelet restarts a container, which deletes no pod', () =>
    measure('restart of a container', async () => {
      const pod = await anyPod();
      await cluster.run(cluster.enter('kill', '-TERM', `${await cluster.processOf(NAMESPACE, pod)}`));
      const restarts = 'jsonpath={.status.containerStatuses[0].restartCount}';
      await until(async () => (await kubectl('get', 'pod', pod, '-o', restarts)) === '1');
    }));

  it('is not noticed while the node evicts pods, because their priority is critical', () =>
    measure('node-pressure eviction of other pods', async () => {
      await cluster.kubectl('run', VICTIM, '--image=busybox:1', '--', 'sleep', '1000');
      await cluster.kubectl('wait', `pod/${VICTIM}`, '--for=condition=Ready', '--timeout=60s');
      const before = await pods();
      await until(async () => {
        await cluster.run(cluster.enter('sh', '-c', FILL));
        return (await cluster.kubectl('get', 'pod', VICTIM, '-o', 'jsonpath={.status.reason}')) === 'Evicted';
      });
      await cluster.run(cluster.enter('rm', '/run/filler'));
      expect(await pods()).to.deep.equal(before);
      await cluster.kubectl('wait', 'node', '--all', '--for=condition=DiskPressure=False', '--timeout=60s');
    }));

  it('fails only requests to the replica in a forced deletion', () =>
    measure(
      'forced deletion of a pod',
      async () => kubectl('delete', 'pod', await anyPod(), '--grace-period=0', '--force'),
      CUT,
    ));

  it('fails only requests to the replica in an OOM kill', () =>
    measure(
      'OOM kill of a replica',
      async () => {
        const pod = await anyPod();
        const pid = await cluster.processOf(NAMESPACE, pod);
        await cluster.run(cluster.enter('sh', '-c', OUT_OF_MEMORY, 'sh', `${pid}`));
        const reason = 'jsonpath={.status.containerStatuses[0].lastState.terminated.reason}';
        await until(async () => (await kubectl('get', 'pod', pod, '-o', reason)) === 'OOMKilled');
      },
      CUT,
    ));

  it('terminates no session', async () => {
    expect(await tokens.userInfo((await tokens.refresh(early.refresh_token)).access_token)).to.equal(200);
  });

  /** Fails after any failed request, except those with an accepted error. */
  async function measure(name: string, disrupt: () => Promise<unknown>, accepted?: RegExp): Promise<void> {
    const began = performance.now();
    await disrupt();
    await settled();
    const counts = load.take();
    if (counts.errors.length > 0) console.log(`the load began at ${load.began.toISOString()}`);
    rows.push(rowOf(name, counts, (performance.now() - began) / 1000));
    expect(counts.errors.filter(({ message }) => !accepted?.test(message))).to.deep.equal([]);
    expect(await tokens.userInfo(early.access_token)).to.equal(200);
  }

  /** Resolves when all pods are ready, no further one exists, and all streams have received later numbers. */
  async function settled(): Promise<void> {
    const state = '{.metadata.deletionTimestamp}{.status.containerStatuses[0].ready},';
    await kubectl('rollout', 'status', 'deployment/ks-apiserver', '--timeout=100s');
    const ready = 'true,'.repeat(REPLICAS);
    await until(async () => (await kubectl(...PODS, `jsonpath={range .items[*]}${state}{end}`)) === ready);
    const [counter, line] = [load.counter, load.tail.last];
    await until(() => load.watches.every(({ last }) => last > counter) && load.tail.last > line);
  }

  async function pods(): Promise<string[]> {
    return (await kubectl(...PODS, 'jsonpath={.items[*].metadata.name}')).split(' ');
  }

  async function anyPod(): Promise<string> {
    return (await pods())[0] ?? '';
  }

  function evict(pod: string): ReturnType<Client['send']> {
    const path = `/api/v1/namespaces/${NAMESPACE}/pods/${pod}/eviction`;
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod } };
    return admin.send(path, { method: 'POST', body });
  }

  /** Installs the server with certificate files, because clients of the Service need one CA. */
  async function install(): Promise<{ url: string; ca: string }> {
    await folder.run('kubectl apply -k ks-apiserver/manifests/access');
    await folder.run('kubectl apply -f ks-apiserver/manifests/base/service.yaml');
    const address = await kubectl('get', 'service', 'ks-apiserver', '-o', 'jsonpath={.spec.clusterIP}');
    const ca = await CertificateAuthority.create('disruption');
    const pair = await ca.issueServer({ cn: SERVER_NAME }, { dns: [SERVER_NAME], ip: [address] });
    const files = { 'ca.crt': ca.cert, 'tls.crt': pair.cert, 'tls.key': pair.key };
    for (const [name, pem] of Object.entries(files)) await writeFile(join(folder.path, name), pem);
    const from = Object.keys(files).map((name) => `--from-file=${join(folder.path, name)}`);
    await kubectl('create', 'secret', 'generic', 'ks-apiserver-tls', ...from);
    await writeConfiguration('10s');
    const block = await blockWith('docs/network.md', 'With certificate files', 'kustomization');
    const replicas = stringify({ replicas: [{ name: 'ks-apiserver', count: REPLICAS }] });
    await folder.write('kustomization.yaml', `${block}${replicas}`);
    await cluster.applyOverlay(folder.path);
    return { url: `https://${address}`, ca: ca.cert };
  }

  async function writeConfiguration(readinessDelay: string): Promise<void> {
    const base = record(parse(await folder.run('cat ks-apiserver/manifests/base/configuration.yaml')));
    const file = (name: string): string => `/etc/ks-apiserver-tls/${name}`;
    const files = { certFile: file('tls.crt'), keyFile: file('tls.key'), caFile: file('ca.crt') };
    const listeners = recordIn(base, 'listeners');
    const secure = { ...recordIn(listeners, 'secure'), ...files };
    const configuration = { ...base, shutdown: { readinessDelay }, listeners: { ...listeners, secure } };
    await folder.write('configuration.yaml', stringify(configuration));
  }

  function administrator() {
    const config = new KubeConfig();
    config.loadFromFile(cluster.kubeconfig);
    const [server, user] = [config.getCurrentCluster(), config.getCurrentUser()];
    const pem = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString();
    const pair = { cert: pem(user?.certData), key: pem(user?.keyData) };
    return { url: server?.server ?? '', ca: pem(server?.caData), pair };
  }
});

function rowOf(disruption: string, counts: Counts, seconds: number): string {
  const { requests, newConnections, errors, resumed } = counts;
  const failed = errors.reduce((sum, { count }) => sum + count, 0);
  return `| ${disruption} | ${requests} | ${newConnections} | ${failed} | ${resumed} | ${seconds.toFixed(0)} s |`;
}
