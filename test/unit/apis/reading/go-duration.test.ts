// Tests of the parser of durations in Go's notation.
import { expect } from 'chai';
import { parseGoDuration } from '../../../../apis/reading/go-duration.ts';

describe('parseGoDuration', () => {
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
      expect(parseGoDuration(text)).to.be.closeTo(milliseconds, 1e-9);
    });
  }

  for (const [text, message] of [
    ['', 'time: invalid duration ""'],
    ['-', 'time: invalid duration "-"'],
    ['abc', 'time: invalid duration "abc"'],
    ['.s', 'time: invalid duration ".s"'],
    ['1..2s', 'time: missing unit in duration "1..2s"'],
    ['1s-2s', 'time: unknown unit "s-" in duration "1s-2s"'],
    ['5', 'time: missing unit in duration "5"'],
    ['1h5', 'time: missing unit in duration "1h5"'],
    ['5d', 'time: unknown unit "d" in duration "5d"'],
    ['5 s', 'time: unknown unit " s" in duration "5 s"'],
    ['5é', 'time: unknown unit "\\xc3\\xa9" in duration "5\\xc3\\xa9"'],
    ['\n\u0085', 'time: invalid duration "\\x0a\\xc2\\x85"'],
    ['"\\\u007f', 'time: invalid duration "\\"\\\\\u007f"'],
    ['3000000h', 'time: invalid duration "3000000h"'],
    ['0s'.repeat(1000), 'time: invalid duration "0s0s'],
  ] as const) {
    it(`is refused when it is ${JSON.stringify(text)}`, () => {
      expect(() => parseGoDuration(text)).to.throw(message);
    });
  }
});
