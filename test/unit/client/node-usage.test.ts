// Tests of the usage of nodes.
import { expect } from 'chai';
import { type KubernetesObject, type ListPage, nodeUsages } from '../../../client/index.ts';

function objectOf(name: string, members: object, annotations: Readonly<Record<string, string>> = {}) {
  const metadata = { name, uid: name, resourceVersion: '1', creationTimestamp: '', annotations };
  return { apiVersion: 'v1', kind: 'Node', metadata, ...members };
}

function nodeOf(name: string, annotations?: Readonly<Record<string, string>>): KubernetesObject {
  const allocatable = { cpu: '4', memory: '8Gi', pods: '110' };
  return objectOf(name, { status: { allocatable } }, annotations);
}

function pageOf(statuses: readonly string[], ...items: readonly KubernetesObject[]): ListPage {
  return {
    kind: 'List',
    apiVersion: 'v1',
    metadata: { resourceVersion: '7' },
    totalItems: items.length,
    columns: [{ name: 'Status', type: 'string', format: 'status', priority: 0, description: '' }],
    cells: statuses.map((status) => [status]),
    items,
  };
}

describe('the usage of nodes', () => {
  it('is measured, in the order of statuses and load', () => {
    const page = pageOf(['NotReady', 'Ready', 'Ready'], nodeOf('a'), nodeOf('b'), nodeOf('c'));
    const metrics = [
      objectOf('b', { usage: { cpu: '500m', memory: '2Gi' } }),
      objectOf('c', { usage: { cpu: '3', memory: '2Gi' } }),
    ];
    const nodes = nodeUsages(page, metrics);
    expect(nodes.map(({ name, status }) => [name, status])).to.deep.equal([
      ['a', 'NotReady'],
      ['c', 'Ready'],
      ['b', 'Ready'],
    ]);
    expect(nodes[1]).to.deep.include({ pods: '110', cpu: { used: 3, total: 4, share: 0.75 } });
    expect(nodes[0]?.cpu, 'not measured').to.deep.equal({ used: undefined, total: 4, share: 0 });
  });

  it('is requested by pods, or unknown, without measurements', () => {
    const requests = { 'node.acme.io/cpu-requests': '2', 'node.acme.io/memory-requests': '2Gi' };
    const [known, unknown] = nodeUsages(pageOf(['Ready', 'Ready'], nodeOf('b', requests), nodeOf('a')));
    expect(known?.cpu).to.deep.equal({ used: 2, total: 4, share: 0.5 });
    expect(known?.memory.share).to.equal(0.25);
    expect(unknown?.cpu.used).to.equal(undefined);
  });

  it('is unknown for objects without the members of a node', () => {
    const [node] = nodeUsages(pageOf([], objectOf('a', { status: { allocatable: { cpu: {} } } })));
    expect(node).to.deep.equal({
      name: 'a',
      status: '',
      cpu: { used: undefined, total: undefined, share: 0 },
      memory: { used: undefined, total: undefined, share: 0 },
      pods: '',
    });
  });
});
