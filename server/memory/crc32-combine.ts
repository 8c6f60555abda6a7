// Combines CRC-32 checksums of consecutive byte sequences without reading the bytes again.
// Source: crc32_combine of zlib 1.3.

/** The polynomial of CRC-32 with reflected bits. */
const POLYNOMIAL = 0xedb88320;
const HIGHEST_BIT = 0x80000000;

/** Multiplies two polynomials modulo POLYNOMIAL. The highest bit of a number is the coefficient of x^0. */
function product(left: number, right: number): number {
  let sum = 0;
  let factor = right;
  for (let bit = HIGHEST_BIT; bit !== 0; bit >>>= 1) {
    if ((left & bit) !== 0) sum ^= factor;
    factor = (factor & 1) === 0 ? factor >>> 1 : (factor >>> 1) ^ POLYNOMIAL;
  }
  return sum;
}

/** x^(2^n) for n from 0 to 31. */
const POWERS: readonly number[] = powers();

function powers(): number[] {
  const all = [HIGHEST_BIT >>> 1];
  for (let n = 1; n < 32; n++) all.push(product(all[n - 1] ?? 0, all[n - 1] ?? 0));
  return all;
}

/**
 * Returns the CRC-32 of a sequence that consists of two parts. `first` and `second`: the CRC-32 of the parts.
 * `secondLength`: length of the second part in bytes, below 2^32.
 */
export function crc32Combine(first: number, second: number, secondLength: number): number {
  let shift = HIGHEST_BIT;
  // x^8 for each byte: the exponents start at 2^3.
  for (let n = 3, rest = secondLength; rest > 0; rest = Math.floor(rest / 2), n++) {
    if (rest % 2 === 1) shift = product(POWERS[n % 32] ?? 0, shift);
  }
  return (product(shift, first) ^ second) >>> 0;
}
