// Tests of the table columns of nodes, and of the values extracted from each node.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { nodeColumns, nodeIn } from '../../../../../server/resources/profiles/node-columns.ts';
import { statusWords } from '../../../../../server/resources/profiles/node-facts.ts';
import { NodeCache, node, nodeProfile } from '../../../../support/cluster/node-cache.ts';

const NOW = new Date('2026-01-02T00:00:00Z');

function cells(more: object, labels: Readonly<Record<string, string>> = {}): unknown[] {
  const cache = new NodeCache();
  cache.fill(2, [node('n', 1, labels, more)]);
  const object = cache.cache.snapshot().get('n');
  if (!object) throw new Error('the node is not in the cache');
  return nodeColumns.map((column) => column.cell(object, NOW));
}

describe('nodeColumns', () => {
  it('shows the name and unknown for an empty node', () => {
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

  it('shows an empty address as empty', () => {
    const addresses = [
      { type: 'InternalIP', address: '' },
      { type: 'InternalIP', address: '10.0.0.1' },
    ];
    expect(cells({ status: { addresses } }).slice(5, 7)).to.deep.equal(['', '<none>']);
  });

  it('has the distinct sorted roles of the labels', () => {
    const labels = {
      'node-role.kubernetes.io/worker': '',
      'node-role.kubernetes.io/control-plane': '',
      'node-role.kubernetes.io/': '',
      'kubernetes.io/role': 'worker',
    };
    expect(cells({}, labels)[2]).to.equal('control-plane,worker');
  });

  it('extracts facts from any value without throwing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (status, metadata) => {
        const facts = nodeProfile.facts({ status, metadata, spec: status });
        expect(statusWords(nodeIn(facts))).not.to.have.length(0);
        nodeProfile.facts(status);
      }),
    );
  });
});
