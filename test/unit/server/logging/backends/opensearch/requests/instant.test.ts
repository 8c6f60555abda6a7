import { expect } from 'chai';
import { toInstant } from '../../../../../../../server/logging/backends/opensearch/requests/instant.ts';
import { millisecondsOf } from '../../../../../../../server/logging/instant.ts';

describe('the time of a record', () => {
  const cases: readonly [written: unknown, instant: string | undefined][] = [
    ['2026-01-15T10:00:00.123456789Z', '2026-01-15T10:00:00.123456789Z'],
    ['2026-01-15T10:00:00Z', '2026-01-15T10:00:00.000000000Z'],
    ['2026-01-15T10:00:00.1Z', '2026-01-15T10:00:00.100000000Z'],
    ['2026-01-15T10:00:00.123456+02:00', '2026-01-15T08:00:00.123456000Z'],
    ['2026-01-15T10:00:00.5-0330', '2026-01-15T13:30:00.500000000Z'],
    ['2026-01-15 10:00:00.000000001Z', '2026-01-15T10:00:00.000000001Z'],
    [1_768_471_200_123, '2026-01-15T10:00:00.123000000Z'],
    ['1768471200123', '2026-01-15T10:00:00.123000000Z'],
    ['yesterday', undefined],
    [undefined, undefined],
    [{}, undefined],
    ['2026-13-45T10:00:00Z', undefined],
  ];
  for (const [written, instant] of cases) {
    it(`written as ${JSON.stringify(written)} is ${instant ?? 'unknown'}`, () => {
      expect(toInstant(written)).to.equal(instant);
    });
  }

  it('is rounded down to milliseconds', () => {
    expect(millisecondsOf('2026-01-15T10:00:00.123999999Z')).to.equal(Date.UTC(2026, 0, 15, 10, 0, 0, 123));
  });
});
