import { expect } from 'chai';
import { type ControlPlane, startControlPlane } from '../../../../hack/control-plane/control-plane.ts';
import { startKwok } from '../../../../hack/simulation/kwok.ts';
import { createNodes } from '../../../../hack/simulation/realistic-node.ts';
import { createCluster } from '../../../../hack/simulation/simulated-cluster.ts';
import { scratchFolder } from '../../../support/scratch.ts';
import { kubectl } from '../control-plane/programs.ts';

const { signal } = new AbortController();

interface Listed {
  items: { metadata: { uid: string; managedFields: unknown[] } }[];
}

async function uids(cp: ControlPlane): Promise<string[]> {
  const list: Listed = JSON.parse(await kubectl(cp, 'get', 'nodes', '-o', 'json'));
  return list.items.map(({ metadata }) => metadata.uid);
}

describe('a simulated cluster', function () {
  this.timeout(180_000);

  it('has Ready nodes with leases and roles, running pods, and logs that kubectl reads', async () => {
    await using scratch = await scratchFolder();
    const cp = await startControlPlane({ dir: scratch.path, signal });
    try {
      await startKwok(cp, { nodes: 6, pods: 8, signal });

      const nodes = await kubectl(cp, 'get', 'nodes', '--no-headers');
      expect(nodes.trim().split('\n')).to.have.length(6);
      expect(nodes).to.match(/node-00000\s+Ready\s+control-plane .*v1\.36\./);
      expect(nodes).to.match(/node-00001\s+Ready\s+worker/);
      expect(nodes).to.match(/node-00004\s+Ready,SchedulingDisabled\s+worker/);
      await kubectl(cp, 'wait', '--for=create', 'lease/node-00005', '-n', 'kube-node-lease', '--timeout=20s');

      const pods = await kubectl(cp, 'get', 'pods', '-A', '--no-headers');
      expect(pods.match(/1\/1\s+Running/g)).to.have.length(8);
      const logs = await kubectl(cp, 'logs', '-n', 'shop', 'deployment/catalog', '--tail=3');
      expect(logs.trim().split('\n')).to.have.length(3);
      expect(logs).to.match(/\bn(?:=|":)399\b/);
    } finally {
      await cp.stop();
    }
  });

  it('is reused by the next start, which creates nothing twice', async () => {
    await using scratch = await scratchFolder();
    const first = await startControlPlane({ dir: scratch.path, signal, keep: true });
    await startKwok(first, { nodes: 3, pods: 2, signal });
    const before = await uids(first);
    await first.stop();

    const second = await startControlPlane({ dir: scratch.path, signal });
    try {
      await startKwok(second, { nodes: 4, pods: 2, signal });
      const after = await uids(second);
      expect(after.slice(0, 3)).to.deep.equal(before);
      expect(after).to.have.length(4);
      expect(await kubectl(second, 'logs', '-n', 'shop', 'deployment/cart', '--tail=1')).to.match(
        /\bn(?:=|":)399\b/,
      );
    } finally {
      await second.stop();
    }
  });

  it('keeps further nodes of an earlier start, and reports their number', async () => {
    await using scratch = await scratchFolder();
    const cp = await startControlPlane({ dir: scratch.path, signal, controllers: false });
    try {
      await createNodes(cp, 5, { signal });
      const said: string[] = [];
      const kubelet = { address: '127.0.0.1', port: cp.ports.kwok };
      const progress = (line: string): number => said.push(line);
      await createCluster(cp.client, { nodes: 3, pods: 0, kubelet, signal, progress });
      expect(await uids(cp)).to.have.length(5);
      expect(said).to.deep.equal(['further nodes of an earlier start: 2']);
    } finally {
      await cp.stop();
    }
  });

  it('can have many realistic nodes without KWOK, of about 8 KB each, status included', async () => {
    await using scratch = await scratchFolder();
    const cp = await startControlPlane({ dir: scratch.path, signal, controllers: false });
    try {
      await createNodes(cp, 300, { signal });
      await createNodes(cp, 300, { signal });
      const { body } = await cp.client.send('/api/v1/nodes');
      const { items }: { items: { status: { images: unknown[] } }[] } = JSON.parse(body);
      expect(items).to.have.length(300);
      expect(body.length / 300).to.be.within(7_500, 9_500);
      expect(items.every(({ status }) => status.images.length === 25)).to.equal(true);
    } finally {
      await cp.stop();
    }
  });
});
