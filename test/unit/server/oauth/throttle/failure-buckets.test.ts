// Tests of the bounded table of failed sign-in attempts.
import { expect } from 'chai';
import { FailureBuckets } from '../../../../../server/oauth/throttle/failure-buckets.ts';

const LIMITS = { failures: 2, delay: 1000, maxDelay: 60_000, reset: 3_600_000 };

describe('failure buckets', () => {
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
