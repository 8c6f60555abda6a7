import { expect } from 'chai';
import { InitialEventsBudget } from '../../../../../../server/endpoints/rest/watch/initial-events-budget.ts';

const KB = 1024;

describe('the budget of initial events', () => {
  it('makes less ahead the less memory is left, but always about one object', () => {
    const budget = new InitialEventsBudget(1024 * KB);
    expect(budget.chunk).to.equal(128 * KB);
    const leave = [budget.take(512 * KB), budget.take(256 * KB)];
    expect(budget.chunk).to.equal(64 * KB);
    leave.push(budget.take(2048 * KB));
    expect(budget.chunk).to.equal(8 * KB);
    for (const one of leave) one();
    expect(budget.chunk).to.equal(128 * KB);
  });
});
