// Tests of the maximum of lines in memory.
import { expect } from 'chai';
import { excessOf, MAX_CHARACTERS, MAX_LINES } from '../../../../explore/logs/line-limit.ts';

const block = (count: number, size: number) => ({
  lines: Array.from({ length: count }, () => ({ log: 'x'.repeat(size) })),
});

describe('the lines of a live tail', () => {
  it('are bounded in their number', () => {
    const blocks = Array.from({ length: 203 }, () => block(50, 1));
    expect(excessOf(blocks)).to.equal(203 - MAX_LINES / 50);
    expect(excessOf(blocks.slice(3))).to.equal(0);
    expect(excessOf([])).to.equal(0);
  });

  it('are bounded in their size, but for the newest ones', () => {
    const mebibyte = 1024 * 1024;
    const blocks = Array.from({ length: 200 }, () => block(1, mebibyte));
    expect(excessOf(blocks)).to.equal(200 - MAX_CHARACTERS / mebibyte);
    expect(excessOf([block(1, 1), block(70, mebibyte)])).to.equal(1);
  });
});
