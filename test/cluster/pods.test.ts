// Tests of the pods that the manifests install: isolation, probes, logs, exec and port-forward.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import type { Cluster } from '../../hack/cluster/cluster.ts';
import { directRequest } from './direct-request.ts';
import { BASE, NAMESPACE, NODES, sharedCluster } from './shared-cluster.ts';

const SERVER = ['-n', NAMESPACE, 'deployment/ks-apiserver'] as const;

describe('the pods of manifests/base', () => {
  let cluster: Cluster;
  const kubectl = (...args: string[]): Promise<string> => cluster.kubectl(...args);
  const inPod = (...command: string[]): Promise<string> => kubectl('exec', ...SERVER, '--', ...command);
  const inNode = (script: string): Promise<string> => inPod('node', '--print', script);

  before('apply the manifests', async () => {
    cluster = sharedCluster();
    // Waits at most a minute.
    await cluster.applyOverlay(BASE);
  });

  it('are two, and kube-apiserver forwards requests to them', async () => {
    expect(await kubectl('get', 'deployment', '-n', NAMESPACE, '--no-headers')).to.match(
      /^ks-apiserver\s+2\/2\s/,
    );
    expect(await kubectl('get', NODES)).to.match(/^ks-node\s+Ready\s/m);
  });

  it('are in a namespace with the restricted Pod Security Standard', async () => {
    const privileged = [
      'run',
      'root',
      '-n',
      NAMESPACE,
      '--image=busybox:1',
      '--privileged',
      '--dry-run=server',
    ];
    const error = await kubectl(...privileged).catch(String);
    expect(error, error).to.contain('violates PodSecurity "restricted:latest"');
  });

  it('run as an unprivileged user without capabilities, with the seccomp profile of the runtime', async () => {
    const status = await inPod('cat', '/proc/1/status');
    expect(status)
      .to.match(/^Uid:\t1000\t1000\t1000\t1000$/m)
      .and.to.match(/^Gid:\t1000\t1000\t1000\t1000$/m)
      .and.to.match(/^CapEff:\t0+$/m)
      .and.to.match(/^CapBnd:\t0+$/m)
      .and.to.match(/^NoNewPrivs:\t1$/m)
      .and.to.match(/^Seccomp:\t2$/m);
  });

  it('cannot write to their root file system', async () => {
    const write = "try { fs.writeFileSync('/app/file', '') } catch (error) { error.code }";
    expect(await inNode(write)).to.equal('EROFS\n');
  });

  it('see their memory limit', async () => {
    expect(await inNode('process.constrainedMemory()')).to.equal(`${2 ** 30}\n`);
  });

  /** The pods that are not terminating. */
  async function runningPods(): Promise<Pod[]> {
    const pods = JSON.parse(await kubectl('get', 'pods', '-n', NAMESPACE, '-o', 'json')) as { items: Pod[] };
    return pods.items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  it('pass their probes', async () => {
    const running = await runningPods();
    expect(running).to.have.length(2);
    for (const { spec, status } of running) {
      expect(spec.containers[0]).to.include.keys('startupProbe', 'readinessProbe', 'livenessProbe');
      expect(status.containerStatuses[0]).to.include({ ready: true, started: true, restartCount: 0 });
    }
  });

  it('leave the Service while they hang, and return', async () => {
    const pod = (await runningPods())[0]?.metadata.name ?? '';
    const pid = String(await cluster.processOf(NAMESPACE, pod));
    await cluster.run(cluster.enter('kill', '-STOP', pid));
    try {
      const wait = ['wait', '-n', NAMESPACE, '--for=jsonpath={.status.readyReplicas}=1', '--timeout=60s'];
      await kubectl(...wait, 'deployment/ks-apiserver');
      const { clusterIP, ca } = await cluster.service();
      for (let request = 0; request < 10; request++) {
        const { status } = await directRequest({ address: clusterIP, ca, path: '/livez' });
        expect(status).to.equal(200);
      }
    } finally {
      await cluster.run(cluster.enter('kill', '-CONT', pid));
    }
    await kubectl('wait', '-n', NAMESPACE, '--for=condition=Ready', '--timeout=60s', `pod/${pod}`);
  });

  it('write their log as JSON', async () => {
    const lines = (await kubectl('logs', ...SERVER)).trim().split('\n');
    expect(lines.map((line) => Object.keys(JSON.parse(line) as object))).to.satisfy((all: string[][]) =>
      all.every((names) => names.includes('level') && names.includes('message')),
    );
  });

  it('respond through port-forward', async () => {
    const args = ['port-forward', '-n', NAMESPACE, 'service/ks-apiserver', ':443'];
    const child = spawn(cluster.kubectlProgram, args, {
      env: cluster.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
      const port = Number(/127\.0\.0\.1:(\d+)/.exec(line)?.[1]);
      const { ca } = await cluster.service();
      const response = await directRequest({ address: '127.0.0.1', port, ca, path: '/readyz' });
      expect(response).to.deep.include({ status: 200, body: 'ok' });
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  });
});

interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly containers: readonly object[] };
  readonly status: { readonly containerStatuses: readonly object[] };
}
