// Tests of the parsers of numbers. The integration tests compare the errors with kube-apiserver.
import { expect } from 'chai';
import { parseInt64, parseUint64 } from '../../../../apis/reading/go-number.ts';

describe('parsers of 64-bit integers', () => {
  it('accept leading zeros and signs as Go does', () => {
    const zeros = '0'.repeat(1_000);
    for (const [text, value] of [
      ['0', 0n],
      [zeros, 0n],
      [`${zeros}7`, 7n],
      ['9223372036854775807', 2n ** 63n - 1n],
    ] as const) {
      expect(parseUint64(text), text).to.equal(value);
      expect(parseInt64(`+${text}`), text).to.equal(value);
      expect(parseInt64(`-${text}`), text).to.equal(-value);
    }
    expect(parseUint64('18446744073709551615')).to.equal(2n ** 64n - 1n);
  });

  it('reject numbers that are too large, without a conversion of all their digits', () => {
    const { BigInt: convert } = globalThis;
    const lengths: number[] = [];
    globalThis.BigInt = Object.assign((text: string) => {
      lengths.push(text.length);
      return convert(text);
    }, convert);
    try {
      for (const text of ['18446744073709551616', '9'.repeat(200_000)]) {
        expect(() => parseUint64(text)).to.throw('value out of range');
        expect(() => parseInt64(`-${text}`)).to.throw('value out of range');
      }
    } finally {
      globalThis.BigInt = convert;
    }
    expect(Math.max(...lengths)).to.equal(20);
  });
});
