// Tests of the functions for timestamps of type Instant.
import { expect } from 'chai';
import { MAX_SECONDS } from '../../../../apis/logging/v1alpha2/log-query.ts';
import {
  BEGINNING,
  instantOf,
  instantOfNanoseconds,
  isQueryable,
  parseInstant,
} from '../../../../server/logging/instant.ts';

describe('isQueryable', () => {
  it('accepts times from the epoch to the last second that parameters accept', () => {
    for (const time of [BEGINNING, instantOf((MAX_SECONDS + 1) * 1000), '2026-11-20T10:00:00.123456789Z']) {
      expect(isQueryable(time), time).to.equal(true);
    }
    for (const time of [
      instantOf(-1),
      instantOf((MAX_SECONDS + 1) * 1000 + 1),
      '2026-02-30x',
      '2026-02-30T10:00:00.000000000Z',
      '2026-11-20T24:00:00.000000000Z',
      '2026-11-20T10:00:00Z',
      '',
      5,
      undefined,
    ]) {
      expect(isQueryable(time), String(time)).to.equal(false);
    }
  });
});

describe('an RFC 3339 time', () => {
  for (const [written, instant] of [
    ['2026-01-15T10:00:00.123456789Z', '2026-01-15T10:00:00.123456789Z'],
    ['2026-01-15T10:00:00Z', '2026-01-15T10:00:00.000000000Z'],
    ['2026-01-15T10:00:00.1Z', '2026-01-15T10:00:00.100000000Z'],
    ['2026-01-15T10:00:00.123456+02:00', '2026-01-15T08:00:00.123456000Z'],
    ['2026-01-15T10:00:00.5-0330', '2026-01-15T13:30:00.500000000Z'],
    ['2026-01-15 10:00:00.000000001Z', '2026-01-15T10:00:00.000000001Z'],
    // Only the mapping defines the unit.
    [1_768_471_200_123, undefined],
    ['1768471200123', undefined],
    ['yesterday', undefined],
    [undefined, undefined],
    [{}, undefined],
    ['2026-13-45T10:00:00Z', undefined],
  ] as const) {
    it(`written as ${JSON.stringify(written)} is ${instant ?? 'undefined'}`, () => {
      expect(parseInstant(written)).to.equal(instant);
    });
  }

  it('keeps all digits of nanoseconds', () => {
    expect(instantOfNanoseconds(1_768_471_200_123_456_789n)).to.equal('2026-01-15T10:00:00.123456789Z');
    expect(instantOfNanoseconds(1_768_471_200_000_000_001n)).to.equal('2026-01-15T10:00:00.000000001Z');
  });
});
