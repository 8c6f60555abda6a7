// Tests of the control plane: start, restart, stop and failures.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { createNodes } from '../../../../hack/simulation/realistic-node.ts';
import { createCluster } from '../../../../hack/simulation/simulated-cluster.ts';
import { DaemonError } from '../../../../hack/system/daemon.ts';
import { identify, isRunning } from '../../../../hack/system/process-identity.ts';
import { rejection } from '../../../support/rejection.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { kubectl } from './programs.ts';

const { signal } = new AbortController();

interface NodeItem {
  metadata: { uid: string };
  status: { images: unknown[] };
}

const uidOf = ({ metadata }: NodeItem): string => metadata.uid;

describe('a control plane', function () {
  this.timeout(180_000);

  it('runs beside another one, with its own objects, CAs, users and controllers', async () => {
    await using scratch = await scratchFolder();
    const [one, two] = await Promise.all([
      startControlPlane({ dir: join(scratch.path, 'one'), signal }),
      startControlPlane({ dir: join(scratch.path, 'two'), signal, controllers: false }),
    ]);
    try {
      await kubectl(one, 'create', 'namespace', 'only-in-one');
      expect(await kubectl(one, 'get', 'namespaces', '-o', 'name')).to.include('namespace/only-in-one');
      expect(await kubectl(two, 'get', 'namespaces', '-o', 'name')).not.to.include('only-in-one');

      const kubeconfig = await one.kubeconfigFor({ name: 'jane', groups: ['developers'] });
      const whoami = await kubectl({ ...one, kubeconfig }, 'auth', 'whoami', '-o', 'json');
      expect(JSON.parse(whoami).status.userInfo).to.deep.include({
        username: 'jane',
        groups: ['developers', 'system:authenticated'],
      });
      const elsewhere = await rejection(
        kubectl({ ...one, kubeconfig }, '--server', two.url, 'auth', 'whoami'),
      );
      expect(elsewhere.message).to.match(/certificate signed by unknown authority/);

      // The controllers aggregate roles, create service accounts and remove deleted namespaces.
      expect(
        await kubectl(one, 'get', 'clusterrole', 'view', '-o', 'jsonpath={.rules[*].resources}'),
      ).to.include('pods');
      const account = ['serviceaccount/default', '-n', 'only-in-one'];
      await kubectl(one, 'wait', '--for=create', ...account, '--timeout=20s');
      await kubectl(one, 'delete', 'namespace', 'only-in-one', '--timeout=60s');
      const gone = await rejection(kubectl(one, 'get', 'namespace', 'only-in-one'));
      expect(gone.message).to.include('NotFound');
    } finally {
      await Promise.all([one.stop(), two.stop()]);
    }
  });

  describe('with failures', () => {
    let cp: ControlPlane;
    let scratch: Awaited<ReturnType<typeof scratchFolder>>;

    before(async () => {
      scratch = await scratchFolder();
      cp = await startControlPlane({ dir: scratch.path, signal, controllers: false });
    });

    after(async () => {
      await cp.stop();
      await scratch[Symbol.asyncDispose]();
    });

    it('restarts a killed kube-apiserver on the same port, optionally with other flags', async () => {
      const { pid } = cp.apiserver;
      await cp.apiserver.kill();
      expect((await rejection(cp.client.send('/livez'))).message).to.match(/ECONNREFUSED/);
      await cp.apiserver.restart({ extraFlags: ['--anonymous-auth=false'] });
      expect(cp.apiserver.pid).not.to.equal(pid);
      expect((await cp.client.send('/livez')).status).to.equal(200);
      expect(await readFile(`/proc/${cp.apiserver.pid}/cmdline`, 'utf8')).to.include(
        '--anonymous-auth=false',
      );
    });

    it('stalls while kube-apiserver is paused, and continues afterwards', async () => {
      await cp.apiserver.pause();
      const answered = cp.client.send('/livez');
      const early = await Promise.race([
        answered,
        cp.client.send('/livez', { signal: AbortSignal.timeout(500) }).catch(() => 'none'),
      ]);
      expect(early).to.equal('none');
      cp.apiserver.resume();
      expect((await answered).status).to.equal(200);
    });

    it('serves objects that were written directly to etcd', async () => {
      const metadata = { name: 'direct', namespace: 'default', uid: 'e41f8a0c-0b1b-4c5e-9c39-0a8c2f1f6f51' };
      const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { key: 'value' } };
      await cp.etcd.put(
        new Map([['/registry/configmaps/default/direct', configMap]]),
        AbortSignal.timeout(5_000),
      );
      const read = await cp.client.get('/api/v1/namespaces/default/configmaps/direct');
      expect(read).to.deep.include({ data: { key: 'value' } });
    });

    it('can have many realistic nodes without KWOK, of about 8 KB each, and keeps them for a start with fewer', async () => {
      await createNodes(cp, 300, { signal });
      await createNodes(cp, 300, { signal });
      const { body } = await cp.client.send('/api/v1/nodes');
      const { items }: { items: NodeItem[] } = JSON.parse(body);
      expect(items).to.have.length(300);
      expect(body.length / 300).to.be.within(7_500, 9_500);
      expect(items.every(({ status }) => status.images.length === 25)).to.equal(true);

      const said: string[] = [];
      const kubelet = { address: '127.0.0.1', port: cp.ports.kwok };
      const progress = (line: string): number => said.push(line);
      await createCluster(cp.client, { nodes: 3, pods: 0, kubelet, signal, progress });
      const after = (await cp.client.get('/api/v1/nodes')) as { items: NodeItem[] };
      expect(after.items.map(uidOf)).to.deep.equal(items.map(uidOf));
      expect(said).to.deep.equal(['further nodes of an earlier start: 297']);
    });

    it('has no history after a compaction and a restart', async () => {
      const path = '/api/v1/namespaces/default/configmaps';
      const list: unknown = await cp.client.get(path);
      const { resourceVersion } = (list as { metadata: { resourceVersion: string } }).metadata;
      await cp.client.expect(path, { method: 'POST', body: { metadata: { generateName: 'note-' } } }, [201]);
      await cp.etcd.compact();
      await cp.apiserver.restart();
      const watch = await cp.client.send(
        `${path}?watch=true&timeoutSeconds=5&resourceVersion=${resourceVersion}`,
      );
      expect(watch.body).to.include('"code":410');
    });

    it('reports a program that dies unexpectedly', async () => {
      process.kill(cp.etcd.pid ?? 0, 'SIGKILL');
      const failure = await cp.failure;
      expect(failure).to.be.instanceOf(DaemonError);
      expect(failure.message).to.match(/^etcd was ended by SIGKILL; the end of its log .*etcd\.log:/);
    });
  });

  it('reports which program failed to start and why, keeps the logs and leaves nothing running', async () => {
    await using scratch = await scratchFolder();
    const starting = startControlPlane({
      dir: scratch.path,
      signal,
      extraApiserverFlags: ['--no-such-flag'],
    });
    const { message } = await rejection(starting);
    expect(message).to.match(/^kube-apiserver exited with code 1; the end of its log /);
    expect(message).to.include('unknown flag: --no-such-flag');
    expect(await readdir(join(scratch.path, 'logs'))).to.include('kube-apiserver.log');
    expect(await readdir(join(scratch.path, 'run'))).to.deep.equal([]);
  });

  it('dies with the process that started it, even after SIGKILL', async () => {
    await using scratch = await scratchFolder();
    const module = import.meta.resolve('../../../../hack/control-plane/control-plane.ts');
    const program = `
      const { startControlPlane } = await import(${JSON.stringify(module)});
      const cp = await startControlPlane({ dir: ${JSON.stringify(scratch.path)}, signal: new AbortController().signal });
      console.log(JSON.stringify([cp.etcd.pid, cp.apiserver.pid, cp.controllerManager.pid]));`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line]: string[] = await once(createInterface({ input: parent.stdout }), 'line');
    const pids: number[] = JSON.parse(line ?? '[]');
    const processes = pids.flatMap((pid) => identify(pid) ?? []);
    expect(processes).to.have.length(3);
    parent.kill('SIGKILL');
    await once(parent, 'exit');

    // The next owner of the folder kills the remaining processes.
    const next = await startControlPlane({ dir: scratch.path, signal });
    expect(processes.filter(isRunning)).to.deep.equal([]);
    await next.stop();
  });
});
