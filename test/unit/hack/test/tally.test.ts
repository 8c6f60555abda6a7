// Tests of the count of passed tests while a suite runs.
import { expect } from 'chai';
import { isPassedTest } from '../../../../hack/test/tally.ts';

describe('the line of a passed test', () => {
  it('is recognized with and without colours', () => {
    expect(isPassedTest('    ✔ lists nodes')).to.equal(true);
    expect(isPassedTest('    \u001b[32m✔\u001b[39m lists nodes (58ms)')).to.equal(true);
  });

  it('is no failure, title or output', () => {
    const lines = [
      '  nodes',
      '    \u001b[31m1) lists nodes\u001b[39m',
      'saw ✔ in the output',
      '  ✔without a space',
    ];
    expect(lines.filter(isPassedTest)).to.deep.equal([]);
  });
});
