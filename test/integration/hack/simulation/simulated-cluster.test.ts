// Tests of the simulated cluster against a real control plane.
import { expect } from 'chai';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { startKwok } from '../../../../hack/simulation/kwok.ts';
import { createNodes } from '../../../../hack/simulation/realistic-node.ts';
import { createCluster } from '../../../../hack/simulation/simulated-cluster.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { kubectl } from '../control-plane/programs.ts';

const { signal } = new AbortController();

interface NodeItem {
  metadata: { uid: string };
  status: { images: unknown[] };
}

const uidOf = ({ metadata }: NodeItem): string => metadata.uid;

async function uids(cp: ControlPlane): Promise<string[]> {
  const list: { items: NodeItem[] } = JSON.parse(await kubectl(cp, 'get', 'nodes', '-o', 'json'));
  return list.items.map(uidOf);
}

describe('a simulated cluster', function () {
  this.timeout(180_000);

  it('has Ready nodes with leases and roles, running pods and logs, and is reused by the next start', async () => {
    await using scratch = await scratchFolder();
    const first = await startControlPlane({ dir: scratch.path, signal, keep: true });
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

    const second = await startControlPlane({ dir: scratch.path, signal });
    try {
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
  });

  it('can have many realistic nodes without KWOK, of about 8 KB each, and keeps them for a start with fewer', async () => {
    await using scratch = await scratchFolder();
    const cp = await startControlPlane({ dir: scratch.path, signal, controllers: false });
    try {
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
    } finally {
      await cp.stop();
    }
  });
});
