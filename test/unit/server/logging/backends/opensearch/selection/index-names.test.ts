import { expect } from 'chai';
import {
  indexPattern,
  indicesWithin,
  newestDays,
} from '../../../../../../../server/logging/backends/opensearch/selection/index-names.ts';

const daily = { prefix: 'logs', daily: true };
const from = (start: string, end: string) => indexPattern(daily, { start, end });

describe('the indices of a time', () => {
  const zone = process.env['TZ'];
  afterEach(() => {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  });

  for (const place of ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    it(`are those of its days in UTC, where the clock is that of ${place}`, () => {
      process.env['TZ'] = place;
      expect(from('2026-01-14T23:59:59.999999999Z', '2026-01-15T00:00:00.000000001Z')).to.equal(
        'logs-2026.01.14,logs-2026.01.15',
      );
      expect(from('2026-01-14T23:59:59.999999999Z', '2026-01-15T00:00:00.000000000Z')).to.equal(
        'logs-2026.01.14',
      );
      expect(from('2026-01-15T00:00:00.000000000Z', '2026-01-16T00:00:00.000000000Z')).to.equal(
        'logs-2026.01.15',
      );
    });
  }

  it('go over the end of a month and of a year', () => {
    expect(from('2027-12-31T12:00:00.000000000Z', '2028-01-01T12:00:00.000000000Z')).to.equal(
      'logs-2027.12.31,logs-2028.01.01',
    );
    expect(
      from('2028-02-28T00:00:00.000000000Z', '2028-03-01T00:00:00.000000001Z').split(','),
    ).to.have.length(3);
  });

  it('are named by months when there are many days, and by the prefix when there are many months', () => {
    const months = from('2026-01-15T00:00:00.000000000Z', '2027-02-01T00:00:00.000000000Z').split(',');
    expect(months).to.have.length(13);
    expect(months[0]).to.equal('logs-2026.01.*');
    expect(months.at(-1)).to.equal('logs-2027.01.*');
    expect(from('1970-01-01T00:00:00.000000000Z', '2286-11-20T17:46:39.000000000Z')).to.equal('logs-*');
  });

  it('are those of the newest days where not all have a name in a request', () => {
    const range = { start: '1970-01-01T00:00:00.000000000Z', end: '2026-03-01T12:00:00.000000000Z' };
    const newest = newestDays(daily, range)?.split(',') ?? [];
    expect(newest.length).to.be.within(100, 130);
    expect(newest.at(-1)).to.equal('logs-2026.03.01');
    expect(newest.every((name) => /^logs-\d{4}\.\d\d\.\d\d$/.test(name))).to.equal(true);
    const short = { ...range, start: '2026-02-28T00:00:00.000000000Z' };
    expect(newestDays(daily, short)).to.equal('logs-2026.02.28,logs-2026.03.01');
    expect(newestDays(daily, { ...range, end: '1970-01-02T00:00:00.000000000Z' })).to.equal(
      'logs-1970.01.01',
    );
    expect(newestDays({ ...daily, daily: false }, range)).to.equal(undefined);
  });

  const part = { start: '2026-01-14T23:00:00.000000000Z', end: '2026-01-16T00:00:00.000000000Z' };
  for (const [what, indices, known, refused, expected] of [
    ['of days', 'logs-2026.01.13,logs-2026.01.14,logs-2026.01.15', [], [], 'logs-2026.01.14,logs-2026.01.15'],
    ['that may be searched', 'logs-2026.01.13,logs-2026.01.15', [], ['logs-2026.01.14'], 'logs-2026.01.15'],
    ['where none of these may be', 'logs-2026.01.13', [], ['logs-2026.01.14'], 'logs-2026.01.13'],
    ['of a pattern', 'logs-*', ['logs-2025.01.01'], [], 'logs-2026.01.14,logs-2026.01.15'],
    [
      'of a pattern without some days',
      'logs-*,-logs-2026.01.14',
      ['logs-2025.01.01'],
      ['logs-2026.01.14'],
      'logs-2026.01.15',
    ],
    ['of a pattern that stands for others too', 'logs-*', ['logs-2026.01.14-copy'], [], 'logs-*'],
    ['of a pattern without some months', 'logs-2026.01.*', [], ['logs-2025.12.*'], 'logs-2026.01.*'],
  ] as const) {
    it(`are fewer for a part of the time: those ${what}`, () => {
      expect(indicesWithin(daily, { indices, known, refused }, part)).to.equal(expected);
    });
  }

  it('are all for a part that is long, or where they have no days', () => {
    const named = { indices: 'logs-*', known: [], refused: [] };
    expect(indicesWithin(daily, named, { ...part, start: '2020-01-01T00:00:00.000000000Z' })).to.equal(
      'logs-*',
    );
    expect(indicesWithin({ ...daily, daily: false }, { ...named, indices: 'logs*' }, part)).to.equal('logs*');
  });

  it('never make a path longer than stores take', () => {
    for (let days = 1; days < 4_000; days += 13) {
      const end = new Date(Date.UTC(2026, 0, 1) + days * 86_400_000).toISOString().replace('Z', '000000Z');
      expect(from('2026-01-01T00:00:00.000000000Z', end).length).to.be.below(3_000);
    }
  });

  it('are all with the prefix where they are not named by days', () => {
    const range = { start: '2026-01-15T00:00:00.000000000Z', end: '2026-01-16T00:00:00.000000000Z' };
    expect(indexPattern({ prefix: 'a b', daily: false }, range)).to.equal('a%20b*');
  });
});
