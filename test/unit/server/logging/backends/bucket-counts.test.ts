// Tests of the cells from which histogram buckets are summed.
import { expect } from 'chai';
import { cellsOf } from '../../../../../server/logging/backends/bucket-counts.ts';
import { bucketsOf } from '../../../../../server/logging/queries/buckets.ts';

describe('the width of the cells of buckets', () => {
  const widthOf = (interval: string, timeZone: string): number =>
    cellsOf(
      bucketsOf({
        start: Date.parse('2026-03-20T00:00:00Z'),
        end: Date.parse('2026-04-02T00:00:00Z'),
        limit: 100,
        interval,
        timeZone,
      }),
    ).width;

  it('is the width of equal buckets', () => {
    expect(widthOf('1d', 'UTC')).to.equal(86_400_000);
    expect(widthOf('6h', 'Europe/Berlin')).to.equal(21_600_000);
  });

  it('is an hour for days with a clock change', () => {
    expect(widthOf('1d', 'Europe/Berlin')).to.equal(3_600_000);
  });

  it('is at least a millisecond', () => {
    expect(cellsOf({ edges: [5, 7, 10] })).to.include({ width: 1 });
    expect(cellsOf({ edges: [] })).to.include({ width: 1 });
  });
});
