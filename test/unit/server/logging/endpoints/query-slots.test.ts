import { expect } from 'chai';
import { newQuerySlots } from '../../../../../server/logging/endpoints/query-slots.ts';

const LIMITS = {
  concurrentQueries: 1,
  queuedQueries: 0,
  queueTimeout: 10_000,
  concurrentExports: 1,
  concurrentFollowers: 1,
};
const never = new AbortController().signal;

describe('the slots of log queries', () => {
  const refusal = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('are shared by all that ends soon, and leave those of exports and followers alone', async () => {
    const slots = newQuerySlots(LIMITS);
    using _query = await slots.query.take(never);
    for (const operation of ['query', 'context', 'statistics', 'histogram'] as const) {
      expect(await refusal(slots[operation].take(never)), operation)
        .to.include({ code: 429 })
        .and.to.have.property('message')
        .that.contains('too many log queries at a time');
    }
    using _export = await slots.export.take(never);
    using _follower = await slots.follow.take(never);
    expect(await refusal(slots.export.take(never))).to.have.nested.property('details.retryAfterSeconds', 10);
    expect(await refusal(slots.follow.take(never))).to.include({ code: 429 });
  });

  it('send those who are refused together back at different times', async () => {
    const { query } = newQuerySlots(LIMITS);
    using _slot = await query.take(never);
    const seconds: unknown[] = [];
    for (let n = 0; n < 4; n++) {
      const refused = await refusal(query.take(never));
      seconds.push((refused as { details: { retryAfterSeconds: number } }).details.retryAfterSeconds);
    }
    expect(seconds).to.deep.equal([1, 2, 3, 1]);
  });

  it('are waited for by as many as there may be', async () => {
    const { query } = newQuerySlots({ ...LIMITS, queuedQueries: 1 });
    const first = await query.take(never);
    const second = query.take(never);
    expect(await refusal(query.take(never))).to.include({ code: 429 });
    first[Symbol.dispose]();
    using _second = await second;
    expect(query.waiting).to.equal(0);
  });

  it('are not all of one caller: a quarter of them, and of the places to wait, is left for others', async () => {
    const limits = { concurrentQueries: 4, queuedQueries: 4, concurrentExports: 4, concurrentFollowers: 100 };
    const slots = newQuerySlots({ ...LIMITS, ...limits });
    for (const [operation, most] of [
      ['export', 3],
      ['follow', 75],
    ] as const) {
      for (let n = 0; n < most; n++) await slots[operation].take(never, 'mallory');
      expect(await refusal(slots[operation].take(never, 'mallory')), operation).to.include({ code: 429 });
      using _slot = await slots[operation].take(never, 'jane');
    }
    const { query } = slots;
    const running = await Promise.all(Array.from({ length: 3 }, () => query.take(never, 'mallory')));
    const waiting = Array.from({ length: 3 }, () => query.take(never, 'mallory'));
    expect(await refusal(query.take(never, 'mallory'))).to.include({ code: 429 });
    // Others need not wait behind her.
    using _slot = await query.take(never, 'jane');
    const later = query.take(never, 'jane');
    expect([query.taken, query.waiting]).to.deep.equal([4, 4]);
    for (const slot of running) slot[Symbol.dispose]();
    for (const slot of await Promise.all(waiting)) slot[Symbol.dispose]();
    using _later = await later;
    expect([query.taken, query.waiting]).to.deep.equal([2, 0]);
  });
});
