// Tests of the age format against kubectl's format.
import { expect } from 'chai';
import { ageSince, humanDuration } from '../../../../server/resources/age.ts';

describe('humanDuration', () => {
  const second = 1000;
  const minute = 60 * second;
  const hour = 60 * minute;
  const day = 24 * hour;
  const year = 365 * day;

  for (const [ms, words] of [
    [-2 * second, '<invalid>'],
    [-1 * second, '0s'],
    [0, '0s'],
    [1999, '1s'],
    [119 * second, '119s'],
    [2 * minute, '2m'],
    [2 * minute + 5 * second, '2m5s'],
    [10 * minute - 1, '9m59s'],
    [10 * minute, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 59 * minute, '7h59m'],
    [8 * hour, '8h'],
    [47 * hour, '47h'],
    [2 * day, '2d'],
    [2 * day + 5 * hour, '2d5h'],
    [8 * day - 1, '7d23h'],
    [8 * day, '8d'],
    [2 * year - 1, '729d'],
    [2 * year, '2y'],
    [2 * year + day, '2y1d'],
    [8 * year, '8y'],
    [80 * year, '80y'],
  ] as const) {
    it(`formats ${ms} ms as ${words}`, () => {
      expect(humanDuration(ms)).to.equal(words);
    });
  }

  it('returns <unknown> for an invalid time', () => {
    expect(ageSince(0, new Date())).to.equal('<unknown>');
    expect(ageSince(Date.parse('2026-01-01T00:00:00Z') / 1000, new Date('2026-01-01T00:00:07Z'))).to.equal(
      '7s',
    );
  });
});
