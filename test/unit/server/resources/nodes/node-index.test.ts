import { expect } from 'chai';
import { array, assert, boolean, integer, property, record } from 'fast-check';
import { NODE_SORT_KEYS } from '../../../../../apis/resources/v1alpha3/node-query.ts';
import { NodeIndex } from '../../../../../server/resources/nodes/node-index.ts';
import { comparisonBy } from '../../../../../server/resources/nodes/sort-keys.ts';
import { NodeCache, node, type PlainNode } from '../../../../support/cluster/node-cache.ts';

const EVERYTHING = { key: '', test: () => true };
const ODD = {
  key: 'odd',
  test: ({ labels }: { labels: Readonly<Record<string, string>> }) => labels['odd'] === 'yes',
};

function some(name: string, version: number): PlainNode {
  return node(name, version, version % 2 === 1 ? { odd: 'yes' } : {}, {
    spec: version % 5 === 0 ? { unschedulable: true } : {},
    status: {
      allocatable: { cpu: `${version % 7}`, memory: `${version % 3}Gi` },
      nodeInfo: { kubeletVersion: `v1.${version % 4}.0` },
    },
  });
}

function names(list: readonly { readonly name: string }[]): string[] {
  return list.map(({ name }) => name);
}

describe('NodeIndex', () => {
  it('keeps every selection equal to a rebuilt one after any change', () => {
    const change = record({
      name: integer({ min: 0, max: 40 }),
      gone: boolean(),
      read: boolean(),
    });
    assert(
      property(array(change, { maxLength: 80 }), boolean(), (changes, relist) => {
        const cache = new NodeCache();
        cache.fill(
          1,
          Array.from({ length: 20 }, (_, i) => some(`node-${i}`, i + 1)),
        );
        const index = new NodeIndex();
        let version = 100;
        const check = (): void => {
          const snapshot = cache.cache.snapshot();
          for (const key of NODE_SORT_KEYS) {
            for (const filter of [EVERYTHING, ODD]) {
              const rebuilt = [...snapshot.objects()].filter(filter.test).sort(comparisonBy(key));
              expect(names(index.sorted(snapshot, key, filter)), key).to.deep.equal(names(rebuilt));
            }
          }
        };
        check();
        for (const { name, gone, read } of changes) {
          cache.apply(gone ? 'DELETED' : 'MODIFIED', some(`node-${name}`, ++version));
          if (read) check();
        }
        if (relist) cache.fill(++version, [some('node-1', 1), some('node-99', 99)]);
        check();
      }),
      { numRuns: 40 },
    );
  });

  it('caches recent selections, and rebuilds others', () => {
    const cache = new NodeCache();
    cache.fill(
      10,
      Array.from({ length: 200 }, (_, i) => some(`node-${i}`, i + 1)),
    );
    const index = new NodeIndex();
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 200; i++) {
        const wanted = `node-${i}`;
        const filter = { key: wanted, test: ({ name }: { name: string }) => name === wanted };
        expect(names(index.sorted(cache.cache.snapshot(), 'name', filter))).to.deep.equal([wanted]);
      }
    }
  });
});
