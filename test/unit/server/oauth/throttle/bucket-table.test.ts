import { expect } from 'chai';
import { BucketTable } from '../../../../../server/oauth/throttle/bucket-table.ts';

const LIMITS = { failures: 2, delay: 1000, maxDelay: 60_000, reset: 3_600_000 };

describe('a bounded table of failures', () => {
  it('keeps what delays somebody, and drops what delays nobody for new ones', () => {
    const table = new BucketTable(3);
    for (let i = 0; i < 2; i++) table.fail('slow', LIMITS, 0);
    table.fail('first', LIMITS, 0);
    for (let i = 0; i < 100; i++) table.fail(`new ${i}`, LIMITS, 0);
    expect(table.size).to.equal(3);
    expect(table.remaining('slow', LIMITS, 0)).to.equal(1000);
    expect(table.get('first')).to.equal(undefined);
  });

  it('counts the failures of new ones although nothing can be dropped', () => {
    const table = new BucketTable(1);
    for (const key of ['slow', 'new']) {
      for (let i = 0; i < 2; i++) table.fail(key, LIMITS, 0);
      expect(table.remaining(key, LIMITS, 0), key).to.equal(1000);
    }
    expect(table.size).to.equal(1);
  });

  it('looks once a minute at most for delays that are over, and then makes room by them', () => {
    const table = new BucketTable(1);
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
