// Tests of the layouts in responses of a store with many indices.
import { expect } from 'chai';
import { readLayouts } from '../../../../../../server/logging/backends/opensearch/layout.ts';

describe('readLayouts', () => {
  it('compares the indices that cannot search a field in linear time', () => {
    const names = { time: 't', message: 'm', namespace: 'n', pod: 'p', container: 'c', containerID: 'i' };
    const count = 20_000;
    const indices = Array.from({ length: 2 * count }, (_, i) => `logs-${i}`);
    let read = 0;
    /** Counts how often the name of an index is read. */
    const without = indices.slice(0, count).map((name) => ({
      toString: () => {
        read++;
        return name;
      },
    }));
    const text = { indices, searchable: false, non_searchable_indices: without };
    const date = { indices, searchable: true, aggregatable: true };
    const { unsupported } = readLayouts({ indices, fields: { m: { text }, t: { date } } }, names);
    expect(unsupported.get('logs-0')).to.match(/^m has to be an indexed field of type text/);
    expect(unsupported.get(`logs-${count}`)).not.to.match(/^m has to be an indexed field/);
    expect(read).to.equal(count);
  });
});
