// Parser and formatter of Kubernetes resource quantities such as `100m` and `1.5Gi`. Precision and maximum are as in
// apimachinery.

type QuantityFormat = 'decimal' | 'binary' | 'exponent';

interface ResourceQuantity {
  /** In 10⁻⁹ of the unit, for instance CPUs or bytes. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

const NANOS = 1_000_000_000n;

/** As in apimachinery: values are whole nanos (10⁻⁹ of the unit), rounded away from zero, up to 2⁶³ - 1 units. */
const MAX = (2n ** 63n - 1n) * NANOS;
const GRAMMAR = /^([+-]?)(\d+\.?\d*|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/;
/** Maximum length of a quantity, because the time of the arithmetic grows with the text. */
const MAX_LENGTH = 64;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
/** Index of the empty suffix in `DECIMAL`. */
const UNIT = 3;

/** Parses a quantity; returns undefined if `text` is not a quantity. */
export function parseResourceQuantity(text: string): ResourceQuantity | undefined {
  const match = text.length <= MAX_LENGTH ? GRAMMAR.exec(text) : null;
  if (!match) return undefined;
  const [, sign = '', number = '', suffix = ''] = match;
  const [whole = '', fraction = ''] = number.split('.');
  const digits = BigInt(whole + fraction);
  const { format, factor, exponent } = scaleOf(suffix);
  const power = exponent - fraction.length + 9;
  const magnitude = bounded(digits * factor, power);
  return { nanos: sign === '-' ? -magnitude : magnitude, format };
}

/** Formats a quantity canonically, with the largest suffix for which the number is whole. */
export function formatResourceQuantity({ nanos, format }: ResourceQuantity): string {
  if (format === 'binary' && (nanos >= 1024n * NANOS || nanos <= -1024n * NANOS)) {
    return formatBinary(roundedUp(nanos, NANOS));
  }
  let mantissa = nanos;
  let step = 0;
  while (mantissa !== 0n && mantissa % 1000n === 0n && step < DECIMAL.length - 1) {
    mantissa /= 1000n;
    step++;
  }
  if (mantissa === 0n) return '0';
  if (format !== 'exponent') return `${mantissa}${DECIMAL[step]}`;
  return step === UNIT ? String(mantissa) : `${mantissa}e${(step - UNIT) * 3}`;
}

/** Returns `value / unit`, rounded away from zero. */
function roundedUp(value: bigint, unit: bigint): bigint {
  const quotient = value / unit;
  if (value % unit === 0n) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

interface Scale {
  readonly format: QuantityFormat;
  readonly factor: bigint;
  /** Exponent of ten. */
  readonly exponent: number;
}

function scaleOf(suffix: string): Scale {
  if (suffix.endsWith('i')) {
    return { format: 'binary', factor: 1024n ** BigInt(BINARY.indexOf(suffix)), exponent: 0 };
  }
  const step = suffix === '' ? UNIT : DECIMAL.indexOf(suffix);
  if (step >= 0) return { format: 'decimal', factor: 1n, exponent: (step - UNIT) * 3 };
  return { format: 'exponent', factor: 1n, exponent: Number(suffix.slice(1)) };
}

/** Returns `digits` times ten to the `power`, limited to the range of a quantity. */
function bounded(digits: bigint, power: number): bigint {
  if (digits === 0n) return 0n;
  // The result is out of range, and computing the power would need much memory.
  if (power > 40) return MAX;
  const nanos =
    power >= 0 ? digits * 10n ** BigInt(power) : roundedUp(digits, 10n ** BigInt(-Math.max(power, -100)));
  return nanos > MAX ? MAX : nanos;
}

function formatBinary(value: bigint): string {
  let mantissa = value;
  let step = 0;
  while (mantissa % 1024n === 0n && step < BINARY.length - 1) {
    mantissa /= 1024n;
    step++;
  }
  return `${mantissa}${BINARY[step]}`;
}
