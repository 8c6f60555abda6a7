import { expect } from 'chai';
import { ReviewCache } from '../../../../server/cluster/reviews-cache.ts';

describe('the cache of reviews', () => {
  it('leaves no failure behind of a question that nobody waits for any more', async () => {
    const cache = new ReviewCache<string>({
      size: 1,
      ttlMs: () => 0,
      maxPending: 1,
      signal: new AbortController().signal,
    });
    const answer = cache.get('a', () => Promise.reject(new Error('the cluster is gone')), {
      signal: AbortSignal.abort(new Error('the caller left')),
    });
    const error = await Promise.resolve(answer).catch((caught: unknown) => caught);
    // The hooks of every test fail it when a promise is rejected that nobody awaits.
    expect(error).to.have.property('message', 'the caller left');
  });
});
