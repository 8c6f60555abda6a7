// Tests of the names of the indices that a log query searches.
import { expect } from 'chai';
import { indexPath } from '../../../../../../server/logging/backends/opensearch/index-sets.ts';

const daily = { prefix: 'logs', daily: true };
const path = (start: string, end: string) => indexPath(daily, { start, end });

describe('the indices of a range', () => {
  const zone = process.env['TZ'];
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  for (const place of ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    it(`are its days in UTC if the time zone is ${place}`, () => {
      process.env['TZ'] = place;
      for (const [start, end, ...expected] of [
        ['2026-01-14T23:59:59.999999999Z', '2026-01-15T00:00:00.000000001Z', '2026.01.14', '2026.01.15'],
        ['2026-01-14T23:59:59.999999999Z', '2026-01-15T00:00:00.000000000Z', '2026.01.14'],
        ['2026-01-15T00:00:00.000000000Z', '2026-01-16T00:00:00.000000000Z', '2026.01.15'],
        ['2027-12-31T12:00:00.000000000Z', '2028-01-01T12:00:00.000000000Z', '2027.12.31', '2028.01.01'],
      ] as const) {
        expect(path(start, end)).to.equal(expected.map((day) => `logs-${day}`).join());
      }
    });
  }

  it('are a pattern if the days do not fit into a path', () => {
    expect(path('1970-01-01T00:00:00.000000000Z', '2286-11-20T17:46:39.000000000Z')).to.equal('logs-2*');
    for (let days = 1; days < 1_000; days += 13) {
      const end = new Date(Date.UTC(2026, 0, 1) + days * 86_400_000).toISOString().replace('Z', '000000Z');
      expect(path('2026-01-01T00:00:00.000000000Z', end).length).to.be.at.most(2_048);
    }
  });

  it('are all indices with the prefix if dailyIndices is false', () => {
    const range = { start: '2026-01-15T00:00:00.000000000Z', end: '2026-01-16T00:00:00.000000000Z' };
    expect(indexPath({ prefix: 'a b', daily: false }, range)).to.equal('a%20b*');
  });
});
