import { expect } from 'chai';
import { ShardCounts } from '../../../../../../../server/logging/backends/opensearch/searches/shard-counts.ts';

describe('the shards of indices', () => {
  it('are as many as before, or more, and fewer once', () => {
    const counts = new ShardCounts(() => 0);
    const asked = (shards: number, indices = 'logs-1,logs-2') => counts.watch(indices)(shards);
    expect([asked(4), asked(5), asked(5)]).to.deep.equal([true, true, true]);
    expect(asked(1, 'logs-1')).to.equal(true);
    expect([asked(4), asked(4)]).to.deep.equal([false, true]);
  });

  it('are too few for each of the questions that were under way', () => {
    const counts = new ShardCounts(() => 0);
    counts.watch('logs')(5);
    const [first, second] = [counts.watch('logs'), counts.watch('logs')];
    expect([first(4), second(4)]).to.deep.equal([false, false]);
    expect(counts.watch('logs')(4)).to.equal(true);
  });

  it('are not compared with what was long ago', () => {
    let now = 0;
    const counts = new ShardCounts(() => now);
    counts.watch('logs')(5);
    now = 60_000;
    expect(counts.watch('logs')(4)).to.equal(true);
  });
});
