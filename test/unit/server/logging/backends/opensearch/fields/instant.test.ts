import { expect } from 'chai';
import {
  instantOfKey,
  toInstant,
} from '../../../../../../../server/logging/backends/opensearch/fields/instant.ts';
import { millisecondsOf } from '../../../../../../../server/logging/instant.ts';

describe('the time of a record', () => {
  const cases: readonly [written: unknown, instant: string | undefined][] = [
    ['2026-01-15T10:00:00.123456789Z', '2026-01-15T10:00:00.123456789Z'],
    ['2026-01-15T10:00:00Z', '2026-01-15T10:00:00.000000000Z'],
    ['2026-01-15T10:00:00.1Z', '2026-01-15T10:00:00.100000000Z'],
    ['2026-01-15T10:00:00.123456+02:00', '2026-01-15T08:00:00.123456000Z'],
    ['2026-01-15T10:00:00.5-0330', '2026-01-15T13:30:00.500000000Z'],
    ['2026-01-15 10:00:00.000000001Z', '2026-01-15T10:00:00.000000001Z'],
    // Of which nobody but the mapping of the index can say whether these are seconds.
    [1_768_471_200_123, undefined],
    ['1768471200123', undefined],
    ['20260115100000', undefined],
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

describe('a sort key', () => {
  const SECOND = 1_768_471_200_000;

  it('of milliseconds is that time', () => {
    expect(instantOfKey(SECOND + 123, false)).to.equal('2026-01-15T10:00:00.123000000Z');
  });

  it('of nanoseconds keeps its microseconds, though no number of JavaScript has the nanoseconds', () => {
    for (let us = 0; us < 2_000_000; us += 997) {
      const written = BigInt(SECOND) * 1_000_000n + BigInt(us) * 1_000n;
      const digits = String(us % 1_000_000).padStart(6, '0');
      expect(instantOfKey(Number(written), true)).to.equal(
        `2026-01-15T10:00:0${us < 1_000_000 ? 0 : 1}.${digits}000Z`,
      );
    }
  });

  it('of other nanoseconds is off by some hundred of them at the most', () => {
    const shown = instantOfKey(Number(BigInt(SECOND) * 1_000_000n + 123_456_500n), true);
    expect(shown.slice(0, 26)).to.equal('2026-01-15T10:00:00.123456');
    expect(Math.abs(Number(shown.slice(26, 29)) - 500)).to.be.below(129);
  });
});
