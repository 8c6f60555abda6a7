// Tests of the time boundaries of histogram buckets.
import { expect } from 'chai';
import { LOG_LIMITS } from '../../../../../server/logging/endpoints/logs-handler.ts';
import { bucketsOf } from '../../../../../server/logging/queries/buckets.ts';

function edges(interval: string, timeZone: string, from: string, to: string): string[] {
  const wanted = { interval, timeZone, start: Date.parse(from), end: Date.parse(to), limit: 100 };
  return bucketsOf(wanted).edges.map((edge) => new Date(edge).toISOString().slice(0, 16));
}

/** Interval, time zone, range, and the edges. Times without a year are of 2026. */
const CASES: Readonly<Record<string, readonly (readonly [string, string, string, string, string])[]>> = {
  'are multiples from the epoch, cover both ends, and end at an edge that is the end of the range': [
    ['15m', 'UTC', '11-20T10:07', '11-20T10:31', '11-20T10:00 11-20T10:15 11-20T10:30 11-20T10:45'],
    ['1h', 'UTC', '11-20T10:00', '11-20T11:00', '11-20T10:00 11-20T11:00'],
  ],
  'of hours begin at full hours of the time zone': [
    ['1h', '+05:30', '11-20T10:07', '11-20T10:31', '11-20T09:30 11-20T10:30 11-20T11:30'],
  ],
  'of days have 23 and 25 hours at clock changes': [
    ['1d', 'Europe/Berlin', '03-28T12:00', '03-29T22:00', '03-27T23:00 03-28T23:00 03-29T22:00'],
    ['1d', 'Europe/Berlin', '10-25T12:00', '10-25T13:00', '10-24T22:00 10-25T23:00'],
  ],
  'of days begin at the first of two midnights': [
    ['1d', 'America/Havana', '10-31T12:00', '11-01T12:00', '10-31T04:00 11-01T04:00 11-02T05:00'],
  ],
  'of days have 24 hours for an offset': [
    ['1d', 'UTC', '03-28T12:00', '03-29T12:00', '03-28T00:00 03-29T00:00 03-30T00:00'],
    ['1d', '+05:45', '03-28T12:00', '03-29T12:00', '03-27T18:15 03-28T18:15 03-29T18:15'],
    ['1d', '-03:30', '03-28T12:00', '03-29T12:00', '03-28T03:30 03-29T03:30 03-30T03:30'],
  ],
  'of days begin at the clock change that skips midnight': [
    ['1d', 'America/Sao_Paulo', '2018-11-04T12:00', '2018-11-04T13:00', '2018-11-04T03:00 2018-11-05T02:00'],
  ],
  'of days exclude a day that the calendar skips': [
    [
      '1d',
      'Pacific/Apia',
      '2011-12-29T12:00',
      '2011-12-30T12:00',
      '2011-12-29T10:00 2011-12-30T10:00 2011-12-31T10:00',
    ],
  ],
  // Clocks went back from 00:01 to 23:01.
  'begin with the bucket of the start, also if clocks go back over midnight': [
    ['1d', 'America/St_Johns', '2006-10-29T02:45', '2006-10-30T00:00', '2006-10-29T02:30 2006-10-30T03:30'],
  ],
  'of weeks begin on Mondays': [['1w', 'UTC', '11-20T10:00', '11-20T11:00', '11-16T00:00 11-23T00:00']],
  'of months, quarters and years follow the calendar': [
    ['1M', 'Europe/Berlin', '11-20T10:00', '11-20T11:00', '10-31T23:00 11-30T23:00'],
    ['1q', 'UTC', '11-20T10:00', '11-20T11:00', '10-01T00:00 2027-01-01T00:00'],
    ['2y', 'UTC', '11-20T10:00', '11-20T11:00', '01-01T00:00 2028-01-01T00:00'],
  ],
};

const time = (short: string): string => (short.length > 11 ? short : `2026-${short}`);

describe('the buckets of a histogram', () => {
  for (const [what, cases] of Object.entries(CASES)) {
    it(what, () => {
      for (const [interval, zone, from, to, expected] of cases) {
        const found = edges(interval, zone, `${time(from)}Z`, `${time(to)}Z`);
        expect(found, zone).to.deep.equal(expected.split(' ').map(time));
      }
    });
  }

  it('beyond the limit are rejected', () => {
    expect(() => edges('1s', 'UTC', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z')).to.throw(
      /1s makes more than 100 buckets; use a wider interval or a shorter range$/,
    );
    expect(edges('1s', 'UTC', '2026-01-01T00:00:00Z', '2026-01-01T00:01:40Z')).to.have.length(101);
  });

  it('include a week by the minute, which consoles request', () => {
    const { buckets: limit } = LOG_LIMITS;
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
