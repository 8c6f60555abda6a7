// Tests of the generator of realistic Node objects.
import { expect } from 'chai';
import { nodeName, realisticNode } from '../../../../hack/simulation/realistic-node.ts';

describe('a realistic node', () => {
  it('is the same each time', () => {
    expect(realisticNode(1234)).to.deep.equal(realisticNode(1234));
  });

  it('has 25 images and the size of a real one', () => {
    for (const index of [0, 7, 4999]) {
      const node = realisticNode(index);
      expect(node.status.images).to.have.length(25);
      expect(JSON.stringify(node).length).to.be.within(6_500, 9_000);
    }
  });

  it('differs from all others in name, address, machine and pod range', () => {
    const nodes = Array.from({ length: 10_000 }, (_, index) => realisticNode(index));
    for (const of of [
      (node: (typeof nodes)[number]) => node.metadata.name,
      (node: (typeof nodes)[number]) => node.status.addresses[0]?.address,
      (node: (typeof nodes)[number]) => node.status.nodeInfo['machineID'],
      (node: (typeof nodes)[number]) => node.spec.podCIDR,
    ]) {
      expect(new Set(nodes.map(of)).size).to.equal(nodes.length);
    }
  });

  it('sorts by name as by index', () => {
    expect([nodeName(10), nodeName(9), nodeName(4999)].sort()).to.deep.equal([
      'node-00009',
      'node-00010',
      'node-04999',
    ]);
  });
});
