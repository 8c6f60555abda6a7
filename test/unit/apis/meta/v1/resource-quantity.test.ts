// Tests of the parser and formatter of resource quantities.
import { expect } from 'chai';
import { assert, bigInt, constantFrom, property } from 'fast-check';
import {
  formatResourceQuantity,
  parseResourceQuantity,
} from '../../../../../apis/meta/v1/resource-quantity.ts';

/** The quantity 1 in units of 10⁻⁹. */
const NANOS = 1_000_000_000n;

function nanos(text: string): bigint | undefined {
  return parseResourceQuantity(text)?.nanos;
}

function canonical(text: string): string | undefined {
  const quantity = parseResourceQuantity(text);
  return quantity && formatResourceQuantity(quantity);
}

describe('parseResourceQuantity', () => {
  it('parses every notation of Kubernetes', () => {
    expect(nanos('1')).to.equal(NANOS);
    expect(nanos('100m')).to.equal(NANOS / 10n);
    expect(nanos('1.5Gi')).to.equal(1_610_612_736n * NANOS);
    expect(nanos('2e3')).to.equal(2000n * NANOS);
    expect(nanos('2E3')).to.equal(2000n * NANOS);
    expect(nanos('5E-1')).to.equal(NANOS / 2n);
    expect(nanos('1E')).to.equal(10n ** 18n * NANOS);
    expect(nanos('.5')).to.equal(NANOS / 2n);
    expect(nanos('5.')).to.equal(5n * NANOS);
    expect(nanos('-1k')).to.equal(-1000n * NANOS);
    expect(nanos('3u')).to.equal(3000n);
    expect(nanos('7n')).to.equal(7n);
  });

  it('rounds away from zero below a billionth', () => {
    expect(nanos('0.5n')).to.equal(1n);
    expect(nanos('-0.5n')).to.equal(-1n);
    expect(nanos('1e-99999')).to.equal(1n);
  });

  it('limits any value', () => {
    const most = (2n ** 63n - 1n) * NANOS;
    expect(nanos('16Ei')).to.equal(most);
    expect(nanos('1e999999999')).to.equal(most);
    expect(nanos('0e999999999')).to.equal(0n);
  });

  it('rejects other texts', () => {
    for (const text of ['', '.', 'x', '1x', '1 Gi', '1KiB', '0x10', '1e', '--1', '1'.repeat(65)]) {
      expect(nanos(text), text).to.equal(undefined);
    }
  });

  it('formats with the largest suffix that leaves a whole number', () => {
    expect(canonical('1000m')).to.equal('1');
    expect(canonical('1500m')).to.equal('1500m');
    expect(canonical('4000')).to.equal('4k');
    expect(canonical('1024Mi')).to.equal('1Gi');
    expect(canonical('1.5Gi')).to.equal('1536Mi');
    expect(canonical('0.5Ki')).to.equal('512');
    expect(canonical('0')).to.equal('0');
    expect(canonical('2000e3')).to.equal('2e6');
  });

  it('round-trips', () => {
    const format = constantFrom('decimal' as const, 'binary' as const, 'exponent' as const);
    assert(
      property(bigInt({ min: 0n, max: 2n ** 62n }), format, (whole, format) => {
        const text = formatResourceQuantity({ nanos: whole * NANOS, format });
        expect(nanos(text), text).to.equal(whole * NANOS);
      }),
    );
  });
});
