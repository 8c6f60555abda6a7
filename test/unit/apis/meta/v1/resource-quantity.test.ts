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
    for (const [text, value] of [
      ['1', NANOS],
      ['100m', NANOS / 10n],
      ['1.5Gi', 1_610_612_736n * NANOS],
      ['2e3', 2000n * NANOS],
      ['2E3', 2000n * NANOS],
      ['5E-1', NANOS / 2n],
      ['1E', 10n ** 18n * NANOS],
      ['.5', NANOS / 2n],
      ['5.', 5n * NANOS],
      ['-1k', -1000n * NANOS],
      ['3u', 3000n],
      ['7n', 7n],
      // Rounded away from zero below a billionth.
      ['0.5n', 1n],
      ['-0.5n', -1n],
      ['1e-99999', 1n],
      // Limited.
      ['16Ei', (2n ** 63n - 1n) * NANOS],
      ['1e999999999', (2n ** 63n - 1n) * NANOS],
      ['0e999999999', 0n],
    ] as const) {
      expect(nanos(text), text).to.equal(value);
    }
  });

  it('rejects other texts', () => {
    for (const text of ['', '.', 'x', '1x', '1 Gi', '1KiB', '0x10', '1e', '--1', '1'.repeat(65)]) {
      expect(nanos(text), text).to.equal(undefined);
    }
  });

  it('formats with the largest suffix that leaves a whole number', () => {
    for (const [text, formatted] of [
      ['1000m', '1'],
      ['1500m', '1500m'],
      ['4000', '4k'],
      ['1024Mi', '1Gi'],
      ['1.5Gi', '1536Mi'],
      ['0.5Ki', '512'],
      ['0', '0'],
      ['2000e3', '2e6'],
    ] as const) {
      expect(canonical(text), text).to.equal(formatted);
    }
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
