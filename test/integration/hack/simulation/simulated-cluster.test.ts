// Tests of the simulated cluster against a real control plane.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { startKwok } from '../../../../hack/simulation/kwok.ts';
import { identify, isRunning } from '../../../../hack/system/process-identity.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { kubectl } from '../control-plane/programs.ts';

const { signal } = new AbortController();

interface NodeItem {
  metadata: { uid: string };
}

const uidOf = ({ metadata }: NodeItem): string => metadata.uid;

async function uids(cp: ControlPlane): Promise<string[]> {
  const list: { items: NodeItem[] } = JSON.parse(await kubectl(cp, 'get', 'nodes', '-o', 'json'));
  return list.items.map(uidOf);
}

describe('a simulated cluster', function () {
  this.timeout(180_000);

  it('has Ready nodes with leases and roles, running pods and logs, which the next start of a kept control plane reuses', async () => {
    await using scratch = await scratchFolder();
    const dir = join(scratch.path, 'kept');
    const first = await startControlPlane({ dir, signal, keep: true });
    const daemons = [first.etcd, first.apiserver, first.controllerManager];
    const processes = daemons.flatMap((daemon) => identify(daemon?.pid ?? 0) ?? []);
    let before: string[];
    try {
      await startKwok(first, { nodes: 6, pods: 8, signal });

      const nodes = await kubectl(first, 'get', 'nodes', '--no-headers');
      expect(nodes.trim().split('\n')).to.have.length(6);
      expect(nodes).to.match(/node-00000\s+Ready\s+control-plane .*v1\.36\./);
      expect(nodes).to.match(/node-00001\s+Ready\s+worker/);
      expect(nodes).to.match(/node-00004\s+Ready,SchedulingDisabled\s+worker/);
      const lease = ['lease/node-00005', '-n', 'kube-node-lease'];
      await kubectl(first, 'wait', '--for=create', ...lease, '--timeout=20s');

      const pods = await kubectl(first, 'get', 'pods', '-A', '--no-headers');
      expect(pods.match(/1\/1\s+Running/g)).to.have.length(8);
      const logs = await kubectl(first, 'logs', '-n', 'shop', 'deployment/catalog', '--tail=3');
      expect(logs.trim().split('\n')).to.have.length(3);
      expect(logs).to.match(/\bn(?:=|":)399\b/);
      before = await uids(first);
    } finally {
      await first.stop();
    }
    expect(processes).to.have.length(3);
    expect(processes.filter(isRunning)).to.deep.equal([]);

    const second = await startControlPlane({ dir, signal });
    try {
      expect(second.url).to.equal(first.url);
      expect(second.ca).to.equal(first.ca);
      await startKwok(second, { nodes: 7, pods: 8, signal });
      const after = await uids(second);
      expect(after.slice(0, 6)).to.deep.equal(before);
      expect(after).to.have.length(7);
      expect(await kubectl(second, 'logs', '-n', 'shop', 'deployment/cart', '--tail=1')).to.match(
        /\bn(?:=|":)399\b/,
      );
    } finally {
      await second.stop();
    }
    // Without `keep`, the control plane removes its folder.
    expect(await readdir(scratch.path)).to.deep.equal([]);
  });
});
