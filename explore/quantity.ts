// Quantities of Kubernetes, such as `3920m` and `16Gi`, as numbers and as short texts.

const FACTORS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** In cores, bytes or pieces. Undefined if the text is no quantity. */
export function quantityOf(text = ''): number | undefined {
  const [, number, unit = ''] = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/.exec(text) ?? [];
  const factor = Object.hasOwn(FACTORS, unit) ? FACTORS[unit] : undefined;
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}

export function coresText(cores: number): string {
  return cores.toLocaleString(undefined, { maximumFractionDigits: cores < 10 ? 1 : 0 });
}

export function bytesText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const exponent = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 2 ** (10 * exponent);
  return `${value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 })} ${units[exponent]}`;
}
