// Tests of the time boundaries of histogram buckets.
import { expect } from 'chai';
import { decodeConfiguration } from '../../../../../apis/config/v1alpha1/decode.ts';
import { bucketsOf } from '../../../../../server/logging/queries/buckets.ts';

function edges(interval: string, timeZone: string, from: string, to: string): string[] {
  const wanted = { interval, timeZone, start: Date.parse(from), end: Date.parse(to), limit: 100 };
  return bucketsOf(wanted).edges.map((edge) => new Date(edge).toISOString().slice(0, 16));
}

describe('the buckets of a histogram', () => {
  it('are multiples from the epoch, and cover both ends', () => {
    expect(edges('15m', 'UTC', '2026-11-20T10:07:00Z', '2026-11-20T10:31:00Z')).to.deep.equal([
      '2026-11-20T10:00',
      '2026-11-20T10:15',
      '2026-11-20T10:30',
      '2026-11-20T10:45',
    ]);
  });

  it('end at the end of the range if that is an edge', () => {
    expect(edges('1h', 'UTC', '2026-11-20T10:00:00Z', '2026-11-20T11:00:00Z')).to.have.length(2);
  });

  it('of hours begin at full hours of the time zone', () => {
    expect(edges('1h', '+05:30', '2026-11-20T10:07:00Z', '2026-11-20T10:31:00Z')).to.deep.equal([
      '2026-11-20T09:30',
      '2026-11-20T10:30',
      '2026-11-20T11:30',
    ]);
  });

  it('of days have 23 and 25 hours at clock changes', () => {
    expect(edges('1d', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T22:00:00Z')).to.deep.equal([
      '2026-03-27T23:00',
      '2026-03-28T23:00',
      '2026-03-29T22:00',
    ]);
    expect(edges('1d', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-25T13:00:00Z')).to.deep.equal([
      '2026-10-24T22:00',
      '2026-10-25T23:00',
    ]);
  });

  it('of days begin at the first of two midnights', () => {
    expect(edges('1d', 'America/Havana', '2026-10-31T12:00:00Z', '2026-11-01T12:00:00Z')).to.deep.equal([
      '2026-10-31T04:00',
      '2026-11-01T04:00',
      '2026-11-02T05:00',
    ]);
  });

  it('of days have 24 hours for an offset', () => {
    for (const [zone, first, last] of [
      ['UTC', '2026-03-28T00:00', '2026-03-30T00:00'],
      ['+05:45', '2026-03-27T18:15', '2026-03-29T18:15'],
      ['-03:30', '2026-03-28T03:30', '2026-03-30T03:30'],
    ] as const) {
      const [begin, , end] = edges('1d', zone, '2026-03-28T12:00:00Z', '2026-03-29T12:00:00Z');
      expect([begin, end], zone).to.deep.equal([first, last]);
    }
  });

  it('of days begin at the clock change that skips midnight', () => {
    expect(edges('1d', 'America/Sao_Paulo', '2018-11-04T12:00:00Z', '2018-11-04T13:00:00Z')).to.deep.equal([
      '2018-11-04T03:00',
      '2018-11-05T02:00',
    ]);
  });

  it('of days exclude a day that the calendar skips', () => {
    expect(edges('1d', 'Pacific/Apia', '2011-12-29T12:00:00Z', '2011-12-31T12:00:00Z')).to.deep.equal([
      '2011-12-29T10:00',
      '2011-12-30T10:00',
      '2011-12-31T10:00',
      '2012-01-01T10:00',
    ]);
  });

  it('begin with the bucket of the start, also if clocks go back over midnight', () => {
    // Clocks went back from 00:01 to 23:01.
    expect(edges('1d', 'America/St_Johns', '2006-10-29T02:45:00Z', '2006-10-30T00:00:00Z')).to.deep.equal([
      '2006-10-29T02:30',
      '2006-10-30T03:30',
    ]);
  });

  it('of weeks begin on Mondays', () => {
    expect(edges('1w', 'UTC', '2026-11-20T10:00:00Z', '2026-11-20T11:00:00Z')).to.deep.equal([
      '2026-11-16T00:00',
      '2026-11-23T00:00',
    ]);
  });

  it('of months, quarters and years follow the calendar', () => {
    const at = ['2026-11-20T10:00:00Z', '2026-11-20T11:00:00Z'] as const;
    expect(edges('1M', 'Europe/Berlin', ...at)).to.deep.equal(['2026-10-31T23:00', '2026-11-30T23:00']);
    expect(edges('1q', 'UTC', ...at)).to.deep.equal(['2026-10-01T00:00', '2027-01-01T00:00']);
    expect(edges('2y', 'UTC', ...at)).to.deep.equal(['2026-01-01T00:00', '2028-01-01T00:00']);
  });

  it('beyond the limit are rejected', () => {
    expect(() => edges('1s', 'UTC', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z')).to.throw(
      /1s makes more than 100 buckets; use a wider interval or a shorter range$/,
    );
    expect(edges('1s', 'UTC', '2026-01-01T00:00:00Z', '2026-01-01T00:01:40Z')).to.have.length(101);
  });

  it('include a week by the minute, which consoles request', () => {
    const { buckets: limit } = decodeConfiguration(undefined).logging.limits;
    const [start, end] = ['2026-11-13T10:00:30Z', '2026-11-20T10:00:30Z'].map(Date.parse);
    const week = { interval: '1m', timeZone: 'Europe/Berlin', start: start ?? 0, end: end ?? 0, limit };
    expect(bucketsOf(week).edges).to.have.length(10_082);
  });

  it('of days are limited to 2,000', () => {
    const start = Date.parse('2020-01-01T00:00:00Z');
    const days = (count: number) =>
      bucketsOf({ interval: '1d', timeZone: 'UTC', start, end: start + count * 86_400_000, limit: 11_000 });
    expect(days(2_000).edges).to.have.length(2_001);
    expect(() => days(2_001)).to.throw(/1d makes more than 2000 buckets/);
  });
});
