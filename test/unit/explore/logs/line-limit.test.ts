// Tests of the maximum of lines in memory.
import { expect } from 'chai';
import { BLOCK, isFull, MAX_CHARACTERS, MAX_LINES, newestOf } from '../../../../explore/logs/line-limit.ts';

const linesOf = (count: number, size: number) =>
  Array.from({ length: count }, (_, index) => ({ id: index, log: 'x'.repeat(size) }));

describe('the lines of a live tail', () => {
  it('are bounded in their number', () => {
    const lines = linesOf(MAX_LINES + 3 * BLOCK, 1);
    expect(newestOf(lines)).to.deep.equal(lines.slice(3 * BLOCK));
    expect(newestOf(lines.slice(BLOCK))).to.deep.equal(lines.slice(3 * BLOCK));
    expect(newestOf(lines.slice(3 * BLOCK))).to.have.length(MAX_LINES);
    expect(newestOf([])).to.deep.equal([]);
  });

  it('are bounded in their size', () => {
    const mebibyte = 1024 * 1024;
    const lines = linesOf(200, mebibyte);
    expect(newestOf(lines).length).to.be.within(1, MAX_CHARACTERS / mebibyte);
    expect(newestOf(lines).at(-1)).to.equal(lines.at(-1));
  });

  it('change in whole blocks, so that the others are not rendered again', () => {
    const lines = linesOf(MAX_LINES + 1, 1);
    expect(newestOf(lines)).to.deep.equal(lines.slice(BLOCK));
  });

  it('are full at the maximum of either', () => {
    const mebibyte = 1024 * 1024;
    const full = [linesOf(MAX_LINES, 1), linesOf(65, mebibyte)].map(isFull);
    const free = [[], linesOf(MAX_LINES - 1, 1), linesOf(64, mebibyte)].map(isFull);
    expect([...full, ...free]).to.deep.equal([true, true, false, false, false]);
  });
});
