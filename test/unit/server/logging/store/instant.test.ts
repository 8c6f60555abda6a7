// Tests of the parser of RFC 3339 times.
import { expect } from 'chai';
import {
  instantOf,
  instantOfNanoseconds,
  nanosecondsOf,
  parseInstant,
} from '../../../../../server/logging/store/instant.ts';

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
    ['2026-13-01T10:00:00.000000000Z', undefined],
    ['2026-12-32T10:00:00.000000000Z', undefined],
    ['2026-12-01T24:00:00.000000001Z', '2026-12-02T00:00:00.000000001Z'],
    ['2026-12-01T10:60:00.000000000Z', undefined],
    ['9999-12-31T23:59:59-01:00', '9999-12-31T23:59:59.000000000Z'],
  ] as const) {
    it(`written as ${JSON.stringify(written)} is ${instant ?? 'undefined'}`, () => {
      expect(parseInstant(written)).to.equal(instant);
    });
  }
});

describe('an instant', () => {
  it('is the first or the last one for a time that it cannot represent', () => {
    const [first, last] = ['0000-01-01T00:00:00.000', '9999-12-31T23:59:59.999'];
    for (const milliseconds of [-1e15, -9e15]) {
      expect(instantOf(milliseconds)).to.equal(`${first}000000Z`);
      expect(instantOfNanoseconds(BigInt(milliseconds) * 1_000_000n)).to.equal(`${first}000000Z`);
    }
    for (const milliseconds of [1e15, 9e15]) {
      expect(instantOf(milliseconds)).to.equal(`${last}000000Z`);
      expect(instantOfNanoseconds(BigInt(milliseconds) * 1_000_000n)).to.equal(`${last}000000Z`);
    }
  });

  it('before the epoch converts to nanoseconds and back', () => {
    for (const instant of ['1969-12-31T23:59:59.999999999Z', '1969-12-31T23:59:59.123000001Z']) {
      expect(instantOfNanoseconds(nanosecondsOf(instant))).to.equal(instant);
    }
  });
});
