// Amounts as short texts.

const UNITS = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** With one decimal place if the number is small. */
export function shortText(value: number): string {
  return value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 });
}

export function bytesText(bytes: number): string {
  const exponent = Math.floor(Math.log2(Math.max(1, bytes)) / 10);
  return `${shortText(bytes / 1_024 ** exponent)} ${UNITS[exponent] ?? ''}B`;
}
