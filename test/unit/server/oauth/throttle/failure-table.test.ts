// Tests of the table of failed attempts.
import { expect } from 'chai';
import { FailureTable } from '../../../../../server/oauth/throttle/failure-table.ts';

const LIMITS = { failures: 2, delay: 1000, maxDelay: 60_000, reset: 3_600_000 };

describe('a full table of failures', () => {
  let now: number;
  beforeEach(() => {
    now = 0;
  });
  const tableOf = (entries: number): FailureTable => new FailureTable({ ...LIMITS, entries }, () => now);

  it('loses no failure of a key while it is attacked in turn with others', () => {
    const table = tableOf(3);
    for (const key of ['a', 'b', 'c']) for (let i = 0; i < 2; i++) table.fail(key);
    for (let i = 0; i < 3; i++) for (const key of ['alice', 'bob']) table.fail(key);
    expect(['alice', 'bob', 'a', 'b', 'c'].map((key) => table.wait(key))).to.deep.equal([
      2000, 2000, 1000, 1000, 1000,
    ]);
    expect(table.size).to.equal(3);
  });

  it('evicts keys without a delay before those with one, however old', () => {
    const table = tableOf(2);
    for (let i = 0; i < 4; i++) table.fail('old');
    now = 1000;
    for (let i = 0; i < 10; i++) table.fail(`new ${i}`);
    table.clear('old');
    expect(table.wait('old'), 'not evicted').to.equal(0);
  });

  it('drops expired failures', () => {
    const table = tableOf(1);
    for (let i = 0; i < 4; i++) table.fail('old');
    now = LIMITS.reset + 1;
    table.fail('new');
    expect(table.size).to.equal(1);
    now = LIMITS.reset;
    expect(table.of('old').failures).to.equal(0);
  });
});
