// Tests of the memory budget of the pod log store.
import { expect } from 'chai';
import * as fc from 'fast-check';
import { MemoryBudget } from '../../../../../../server/logging/backends/kubernetes/line-memory.ts';
import { at, call, everything } from './instants.ts';
import { clusterForEachTest, type LogCluster } from './log-cluster.ts';

const MEMORY = 8 << 20;
const LINES = 1_000;
const LIMIT = 16 << 20;
const FLOOR = 64 << 10;

describe('the memory budget', () => {
  it('is exceeded by at most 64 KiB for each share', () => {
    const steps = fc.array(fc.record({ who: fc.nat(11), bytes: fc.integer({ min: -LIMIT, max: LIMIT }) }), {
      maxLength: 300,
    });
    fc.assert(
      fc.property(steps, (drawn) => {
        const budget = new MemoryBudget(LIMIT);
        const shares = Array.from({ length: 12 }, () => budget.share());
        for (const { who, bytes } of drawn) {
          const share = shares[who];
          if (!share) continue;
          expect(share.room).to.be.at.least(FLOOR);
          share.add(Math.max(-share.held, Math.min(bytes, share.room - share.held)));
          expect(budget.held).to.equal(shares.reduce((sum, { held }) => sum + held, 0));
          expect(budget.held).to.be.at.most(LIMIT + 12 * FLOOR);
        }
        for (const share of shares) share[Symbol.dispose]();
        expect(budget.held).to.equal(0);
      }),
    );
  });
});

describe('the memory of the pod log store', () => {
  let cluster: LogCluster;

  clusterForEachTest((started) => {
    cluster = started;
    for (const pod of ['a', 'b', 'c']) {
      const lines = Array.from({ length: LINES }, (_, n) => at(n, `${pod} ${n} ${'x'.repeat(700)}`));
      cluster.add('shop', pod, lines);
    }
  });

  const whole = { order: 'asc', size: LINES, from: 0 } as const;

  it('is returned when a request ends, is aborted or fails', async () => {
    const memory = new MemoryBudget(MEMORY);
    const store = cluster.store({ bytesPerContainer: 1 << 24 }, { memory });
    for (const returns of [true, false]) {
      const left = new AbortController();
      const exported = store.export(everything, 'asc', { ...call, signal: left.signal });
      await exported.next();
      expect(memory.held).to.be.above(0);
      if (returns) await exported.return({ shortfalls: [] });
      left.abort();
      await Array.fromAsync(exported).catch(() => undefined);
      expect(memory.held).to.equal(0);
      const gone = new AbortController();
      const followed = store.follow(everything, gone);
      await followed.next();
      expect(memory.held).to.be.above(0);
      gone.abort();
      await followed.return();
      expect(memory.held).to.equal(0);
      const query = new AbortController();
      const requested = store.query(everything, whole, { ...call, signal: query.signal });
      query.abort();
      await requested.catch(() => undefined);
      expect(memory.held).to.equal(0);
      expect((await store.query(everything, whole, call)).total.count).to.equal(3 * LINES);
      expect(memory.held).to.equal(0);
    }
  });

  it('limits incomplete lines of a live tail', async () => {
    cluster.add('bank', 'teller', [at(0, 'x'.repeat(900_000)), at(1, 'short')]);
    const memory = new MemoryBudget(1 << 20);
    const store = cluster.store({}, { memory });
    const gone = new AbortController();
    const selection = { ...everything, namespaces: { exact: ['bank'] } };
    const lengths: number[] = [];
    for await (const records of store.follow(selection, gone)) {
      lengths.push(...records.map(({ log }) => log.length));
      if (lengths.length === 2) gone.abort();
    }
    expect(lengths[0]).to.be.within(64 << 10, 1 << 19);
    expect(lengths[1]).to.equal('short'.length);
    expect(memory.held).to.equal(0);
  });

  it('suffices for many requests with slow clients, which get truncated pages or smaller windows', async () => {
    const store = cluster.store({ memory: MEMORY, bytesPerContainer: 1 << 24 });
    // Clients that read the first lines only.
    const stalled = Array.from({ length: 4 }, () => store.export(everything, 'desc', call));
    await Promise.all(stalled.map((each) => each.next()));
    const gone = new AbortController();
    const followers = Array.from({ length: 4 }, () => store.follow(everything, gone));
    await Promise.all(followers.map((each) => each.next()));
    const pages = await Promise.all(Array.from({ length: 8 }, () => store.query(everything, whole, call)));
    for (const { records, total, shortfalls, next } of pages) {
      expect(total.count).to.equal(3 * LINES);
      expect(records.length).to.be.at.least(1);
      if (records.length < LINES) {
        expect(shortfalls.map(({ reason }) => reason)).to.deep.equal(['Limit']);
        expect(next).to.be.a('string');
      }
    }
    const exported = stalled.map(async (each) => {
      let lines = 0;
      for await (const records of each) lines += records.length;
      return lines;
    });
    const first = (await Promise.all(exported)).map((lines) => 3 * LINES - lines);
    for (const lines of first) expect(lines).to.be.within(1, 1_000);
    gone.abort();
    for (const each of followers) await Array.fromAsync(each);
  });
});
