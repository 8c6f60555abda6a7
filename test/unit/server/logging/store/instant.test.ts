// Tests of the parser of RFC 3339 times.
import { expect } from 'chai';
import { parseInstant } from '../../../../../server/logging/store/instant.ts';

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
});
