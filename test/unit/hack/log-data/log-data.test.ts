// Tests of the log data set.
import { expect } from 'chai';
import { wordsOf } from '../../../../apis/logging/v1alpha2/log-query-validation.ts';
import { logData } from '../../../../hack/log-data/log-data.ts';
import { HUGE_LINE, ODD_LINES } from '../../../../hack/log-data/odd-lines.ts';

describe('the log data set', () => {
  it('has every edge case, and no line that a store cannot hold', () => {
    // The size that the tests of the stores use.
    const lines = new Set(Array.from(logData({ lines: 6_000 }).records(), ({ log }) => log));
    for (const line of [...ODD_LINES, HUGE_LINE]) expect(lines.has(line), line).to.equal(true);
    for (const line of lines) {
      expect(line).not.to.equal('');
      expect(line).not.to.include('\n');
      expect(line.isWellFormed()).to.equal(true);
      for (const word of wordsOf(line)) expect(word.length).to.be.at.most(255);
    }
  });
});
