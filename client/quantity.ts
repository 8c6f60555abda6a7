// Quantities of Kubernetes, such as `3920m` and `16Gi`, as numbers, and numbers as short texts.

const QUANTITY = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)([a-zA-Z]*)$/;
/** Powers of 1,000, of which the fourth one is 1, and of 1,024. */
const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** In cores, bytes or pieces. Undefined if the text is no quantity. */
export function quantityOf(text = ''): number | undefined {
  const [, number, unit = ''] = QUANTITY.exec(text) ?? [];
  if (number === undefined) return undefined;
  if (DECIMAL.includes(unit)) return Number(number) * 1_000 ** (DECIMAL.indexOf(unit) - 3);
  return BINARY.includes(unit) ? Number(number) * 1_024 ** BINARY.indexOf(unit) : undefined;
}

/** A number as a short text in the language of the user, with one decimal place if it is small. */
export function amountText(amount: number): string {
  return amount.toLocaleString(undefined, { maximumFractionDigits: amount < 10 ? 1 : 0 });
}

/** For example `1.5 GiB`. */
export function bytesText(bytes: number): string {
  const exponent = Math.floor(Math.log2(Math.max(1, bytes)) / 10);
  return `${amountText(bytes / 1_024 ** exponent)} ${BINARY[exponent] ?? ''}B`;
}
