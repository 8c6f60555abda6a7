import { expect } from 'chai';
import { FollowQueue } from '../../../../../../../server/logging/backends/kubernetes/following/follow-queue.ts';
import { MemoryBudget } from '../../../../../../../server/logging/backends/kubernetes/reading/memory-budget.ts';
import type { LogRecord } from '../../../../../../../server/logging/log-store.ts';
import { at } from '../instants.ts';

const record = (second: number, length: number): LogRecord => {
  const { time } = at(second);
  return { time, log: 'x'.repeat(length), namespace: 'shop', pod: 'a', container: 'app' };
};

describe('the queue of a live tail', () => {
  it('holds memory until the client takes the next batch', async () => {
    const budget = new MemoryBudget(1 << 20);
    const memory = budget.share();
    const queue = new FollowQueue({ memory, gatherMs: 0 });
    expect(queue.room()).to.equal(undefined);
    queue.push([record(2, 300_000), record(1, 10)]);
    const full = queue.room();
    expect(full).to.be.a('promise');
    expect((await queue.take()).map(({ log }) => log.length)).to.deep.equal([10, 300_000]);
    expect(budget.held).to.be.above(600_000);
    expect(queue.room()).to.be.a('promise');
    const next = queue.take();
    await full;
    expect(budget.held).to.equal(0);
    expect(queue.room()).to.equal(undefined);
    queue.push([record(3, 10)]);
    expect((await next).map(({ log }) => log.length)).to.deep.equal([10]);
  });

  it('has room while it is empty, although other requests hold the memory', () => {
    const budget = new MemoryBudget(1 << 20);
    budget.share().add(1 << 20);
    const queue = new FollowQueue({ memory: budget.share(), gatherMs: 0 });
    expect(queue.room()).to.equal(undefined);
    queue.push([record(1, 100_000)]);
    expect(queue.room()).to.be.a('promise');
  });

  it('wakes waiting logs when it fails', async () => {
    const queue = new FollowQueue({ memory: new MemoryBudget(1 << 20).share(), gatherMs: 0 });
    queue.push([record(1, 1 << 20)]);
    const full = queue.room();
    queue.fail(new Error('over'));
    await full;
    expect(queue.room()).to.equal(undefined);
  });
});
