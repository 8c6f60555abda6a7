// Tests of string quoting like Go's `%q`.
import { expect } from 'chai';
import { goQuoted } from '../../../../apis/reading/go-quote.ts';

describe('goQuoted', () => {
  for (const [text, quoted] of [
    ['', '""'],
    ['a"b\\c', String.raw`"a\"b\\c"`],
    ["<>&' é", `"<>&' é"`],
    ['\u0007\b\f\n\r\t\v', String.raw`"\a\b\f\n\r\t\v"`],
    ['\u0000\u0001\u001f\u007f', String.raw`"\x00\x01\x1f\x7f"`],
    ['\u0080\u009f\u00a0\u00ad', String.raw`"\u0080\u009f\u00a0\u00ad"`],
    ['\u2028\u200b\ufeff\u3000\ue000', String.raw`"\u2028\u200b\ufeff\u3000\ue000"`],
    ['\u{1f600}\u{e0001}\u{10ffff}', String.raw`"😀\U000e0001\U0010ffff"`],
  ] as const) {
    it(`writes ${quoted}`, () => {
      expect(goQuoted(text)).to.equal(quoted);
    });
  }
});
