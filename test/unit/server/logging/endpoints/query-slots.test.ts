// Tests of the concurrency limits of log queries.
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

describe('query slots', () => {
  const refusal = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    );

  it('are shared by short queries, apart from exports and live tails', async () => {
    const slots = newQuerySlots(LIMITS);
    using _query = await slots.query.take(never, 'jane');
    for (const operation of ['query', 'context', 'statistics', 'histogram'] as const) {
      expect(await refusal(slots[operation].take(never, 'jane')), operation)
        .to.include({ code: 429 })
        .and.to.have.property('message')
        .that.contains('too many concurrent log queries');
    }
    using _export = await slots.export.take(never, 'jane');
    using _follower = await slots.follow.take(never, 'jane');
    expect(await refusal(slots.export.take(never, 'jane'))).to.have.nested.property(
      'details.retryAfterSeconds',
      10,
    );
    expect(await refusal(slots.follow.take(never, 'jane'))).to.include({ code: 429 });
  });
});
