import { expect } from 'chai';
import { SliceSize } from '../../../../../../../server/logging/backends/victorialogs/exporting/slice-size.ts';

/** The sizes of slices that are read at this many lines a second. */
function sizes(rate: number, { bytesPerLine = 250, many = 8 } = {}): number[] {
  const size = new SliceSize();
  return Array.from({ length: many }, () => {
    const { lines } = size;
    size.learn({ lines, bytes: lines * bytesPerLine, readerMs: (lines / rate) * 1_000, storeMs: 10 });
    return lines;
  });
}

describe('the size of a slice', () => {
  it('is small at first, and grows to what is read in a second', () => {
    expect(sizes(100_000)).to.deep.equal([4_000, 64_000, ...Array(6).fill(100_000)]);
    expect(sizes(10_000_000, { bytesPerLine: 100 }).at(-1)).to.equal(200_000);
  });

  it('is small for a slow reader, but not as small as its pace', () => {
    expect(sizes(2_000).at(-1)).to.equal(2_000);
    expect(sizes(1).at(-1)).to.equal(1_000);
  });

  it('is no more than a few megabytes when lines are long', () => {
    expect(sizes(1_000_000, { bytesPerLine: 1 << 15 }).at(-1)).to.equal(1_024);
  });

  it('is what the store finds in a few seconds, but not less when that takes long anyway', () => {
    const size = new SliceSize();
    const learn = (storeMs: number): number => {
      size.learn({ lines: size.lines, bytes: size.lines, readerMs: 1, storeMs });
      return size.lines;
    };
    expect([1, 1, 6_000, 3_000, 60_000, 60_000].map(learn)).to.deep.equal([
      64_000, 200_000, 100_000, 100_000, 5_000, 4_000,
    ]);
  });

  it('stays below what the store had no memory for', () => {
    const size = new SliceSize();
    size.shrink();
    expect(size.lines).to.equal(1_000);
    size.learn({ lines: 1_000, bytes: 1_000, readerMs: 1, storeMs: 1 });
    expect(size.lines).to.equal(1_000);
    for (let time = 0; time < 9; time++) size.shrink();
    expect(size.lines).to.equal(1);
  });

  it('learns nothing of a slice without lines', () => {
    const size = new SliceSize();
    size.learn({ lines: 0, bytes: 0, readerMs: 5_000, storeMs: 5_000 });
    expect(size.lines).to.equal(4_000);
  });
});
