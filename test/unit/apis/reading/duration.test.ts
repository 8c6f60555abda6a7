// Tests of the parser of durations.
import { expect } from 'chai';
import { parseDuration } from '../../../../apis/reading/duration.ts';

describe('parseDuration', () => {
  for (const [text, milliseconds] of [
    ['0', 0],
    ['-0', 0],
    ['0s', 0],
    ['5s', 5000],
    ['+5s', 5000],
    ['-1.5h', -5_400_000],
    ['1h30m', 5_400_000],
    ['.5s', 500],
    ['5.s', 5000],
    ['250µs', 0.25],
    ['1m1ms1us', 60_001.001],
  ] as const) {
    it(`is ${milliseconds} ms for ${text}`, () => {
      expect(parseDuration(text)).to.be.closeTo(milliseconds, 1e-9);
    });
  }

  it('accepts days only if the caller does', () => {
    expect(parseDuration('1d')).to.equal(undefined);
    expect(parseDuration('1d12h', { days: true })).to.equal(129_600_000);
  });

  it('accepts nothing else', () => {
    const invalid = ['', '-', 'abc', '.s', '1..2s', '1s-2s', '5', '1h5', '5 s', '5é', '\n', '3000000h'];
    for (const text of [...invalid, '0s'.repeat(1000)]) expect(parseDuration(text), text).to.equal(undefined);
  });
});
