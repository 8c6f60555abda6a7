import { expect } from 'chai';
import * as fc from 'fast-check';
import { nodeFacts, statusWords } from '../../../../../server/resources/nodes/node-facts.ts';
import { NodeCache, node, nodes } from '../../../../support/cluster/node-cache.ts';

const NOW = new Date('2026-01-02T00:00:00Z');

function cells(more: object, labels: Readonly<Record<string, string>> = {}): unknown[] {
  const cache = new NodeCache();
  cache.fill(2, [node('n', 1, labels, more)]);
  const object = cache.cache.snapshot().get('n');
  if (!object) throw new Error('the node is not in the cache');
  return nodes.columns.map((column) => column.cell(object, NOW));
}

function ready(...statuses: string[]): object {
  return { status: { conditions: statuses.map((status) => ({ type: 'Ready', status })) } };
}

describe('nodes', () => {
  it('show their name and the unknown when nothing else is known', () => {
    expect(cells({})).to.deep.equal([
      'n',
      'Unknown',
      '<none>',
      '<unknown>',
      '',
      '<none>',
      '<none>',
      '<unknown>',
      '<unknown>',
      '<unknown>',
    ]);
  });

  it('show what the kubelet reports, the first address of each kind', () => {
    const status = {
      conditions: [
        { type: 'MemoryPressure', status: 'False' },
        { type: 'Ready', status: 'True' },
      ],
      addresses: [
        { type: 'Hostname', address: 'n' },
        { type: 'InternalIP', address: '10.0.0.1' },
        { type: 'InternalIP', address: 'fd00::1' },
        { type: 'ExternalIP', address: '1.2.3.4' },
      ],
      nodeInfo: {
        kubeletVersion: 'v1.36.3',
        osImage: 'Debian',
        kernelVersion: '6.1',
        architecture: 'arm64',
        containerRuntimeVersion: 'containerd://2',
      },
    };
    expect(cells({ status, spec: { unschedulable: true } })).to.deep.equal([
      'n',
      'Ready,SchedulingDisabled',
      '<none>',
      '<unknown>',
      'v1.36.3',
      '10.0.0.1',
      '1.2.3.4',
      'Debian',
      '6.1 (arm64)',
      'containerd://2',
    ]);
  });

  it('show an address that is reported as empty as such', () => {
    const addresses = [
      { type: 'InternalIP', address: '' },
      { type: 'InternalIP', address: '10.0.0.1' },
    ];
    expect(cells({ status: { addresses } }).slice(5, 7)).to.deep.equal(['', '<none>']);
  });

  it('are not ready unless the last Ready condition says so', () => {
    expect(cells(ready('True'))[1]).to.equal('Ready');
    expect(cells(ready('Unknown'))[1]).to.equal('NotReady');
    expect(cells(ready('True', 'False'))[1]).to.equal('NotReady');
    expect(cells(ready(''))[1]).to.equal('NotReady');
  });

  it('have the roles of their labels, sorted, each once', () => {
    const labels = {
      'node-role.kubernetes.io/worker': '',
      'node-role.kubernetes.io/control-plane': '',
      'node-role.kubernetes.io/': '',
      'kubernetes.io/role': 'worker',
    };
    expect(cells({}, labels)[2]).to.equal('control-plane,worker');
  });

  it('are read from anything without a throw', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (status, metadata) => {
        expect(statusWords(nodeFacts({ status, metadata, spec: status }))).not.to.have.length(0);
        nodeFacts(status);
      }),
    );
  });

  it('have no short names or categories, so that core nodes stay the first', () => {
    expect(nodes).not.to.have.any.keys('shortNames', 'categories');
  });
});
