// Tests of the bounded table of failed sign-in attempts.
import { expect } from 'chai';
import { FailureBuckets } from '../../../../../server/oauth/throttle/failure-buckets.ts';

const LIMITS = { failures: 2, delay: 1000, maxDelay: 60_000, reset: 3_600_000 };

describe('failure buckets', () => {
  it('keep delaying buckets, and evict others for new keys', () => {
    const table = new FailureBuckets(3);
    for (let i = 0; i < 2; i++) table.fail('slow', LIMITS, 0);
    table.fail('first', LIMITS, 0);
    for (let i = 0; i < 100; i++) table.fail(`new ${i}`, LIMITS, 0);
    expect(table.size).to.equal(3);
    expect(table.remaining('slow', LIMITS, 0)).to.equal(1000);
    expect(table.get('first')).to.equal(undefined);
  });

  it('count failures of new keys in overflow buckets when no bucket can be evicted', () => {
    const table = new FailureBuckets(1);
    for (const key of ['slow', 'new']) {
      for (let i = 0; i < 2; i++) table.fail(key, LIMITS, 0);
      expect(table.remaining(key, LIMITS, 0), key).to.equal(1000);
    }
    expect(table.size).to.equal(1);
  });

  it('sweep for expired delays at most once a minute', () => {
    const table = new FailureBuckets(1);
    const { reset } = LIMITS;
    for (let i = 0; i < 2; i++) table.fail('slow', LIMITS, 0);
    table.take('looks', LIMITS, reset);
    table.take('too soon', LIMITS, reset + 59_999);
    expect(table.get('slow')).not.to.equal(undefined);
    const later = table.take('new', LIMITS, reset + 60_000);
    expect(table.get('new')).to.equal(later);
    expect(table.get('slow')).to.equal(undefined);
  });
});
