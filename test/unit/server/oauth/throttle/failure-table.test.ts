// Tests of the table of failed attempts.
import { expect } from 'chai';
import { FailureTable } from '../../../../../server/oauth/throttle/failure-table.ts';

const LIMITS = { failures: 2, delay: 1000, maxDelay: 60_000, reset: 3_600_000 };

describe('a full table of failures', () => {
  it('loses no failure of a key while it is attacked in turn with others', () => {
    const table = new FailureTable(LIMITS, 3);
    for (const key of ['a', 'b', 'c']) for (let i = 0; i < 2; i++) table.fail(key, 0);
    for (let i = 0; i < 3; i++) for (const key of ['alice', 'bob']) table.fail(key, 0);
    expect(['alice', 'bob', 'a', 'b', 'c'].map((key) => table.wait(key, 0))).to.deep.equal([
      2000, 2000, 1000, 1000, 1000,
    ]);
    expect(table.count(0)).to.equal(3);
  });

  it('evicts keys without a delay before those with one, however old', () => {
    const table = new FailureTable(LIMITS, 2);
    for (let i = 0; i < 4; i++) table.fail('old', 0);
    for (let i = 0; i < 10; i++) table.fail(`new ${i}`, 1000);
    table.clear('old');
    expect(table.wait('old', 1000), 'not evicted').to.equal(0);
  });

  it('drops expired failures', () => {
    const table = new FailureTable(LIMITS, 1);
    for (let i = 0; i < 4; i++) table.fail('old', 0);
    table.fail('new', LIMITS.reset + 1);
    expect(table.count(LIMITS.reset + 1)).to.equal(1);
    expect(table.of('old', LIMITS.reset).failures).to.equal(0);
  });
});
