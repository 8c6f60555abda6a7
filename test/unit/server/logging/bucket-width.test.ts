import { expect } from 'chai';
import { commonWidth } from '../../../../server/logging/bucket-width.ts';
import { bucketsOf } from '../../../../server/logging/queries/buckets.ts';

describe('the width that all buckets are multiples of', () => {
  const widthOf = (interval: string, timeZone: string): number =>
    commonWidth(
      bucketsOf({
        start: Date.parse('2026-03-20T00:00:00Z'),
        end: Date.parse('2026-04-02T00:00:00Z'),
        limit: 100,
        interval,
        timeZone,
      }),
    );

  it('is their own when they all have the same', () => {
    expect(widthOf('1d', 'UTC')).to.equal(86_400_000);
    expect(widthOf('6h', 'Europe/Berlin')).to.equal(21_600_000);
  });

  it('is that of an hour where one day has an hour less', () => {
    expect(widthOf('1d', 'Europe/Berlin')).to.equal(3_600_000);
  });

  it('is a millisecond at least', () => {
    expect(commonWidth({ edges: [5, 7, 10] })).to.equal(1);
    expect(commonWidth({ edges: [] })).to.equal(1);
  });
});
