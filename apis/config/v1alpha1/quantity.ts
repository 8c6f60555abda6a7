const FACTORS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['Ki', 2 ** 10],
  ['Mi', 2 ** 20],
  ['Gi', 2 ** 30],
]);

/** Bytes of a quantity written as Kubernetes writes it: `4096`, `256Ki`, `3Mi`, `1Gi`. Undefined when it is not one. */
export function parseQuantity(text: string): number | undefined {
  const match = /^(\d+)(Ki|Mi|Gi)?$/.exec(text);
  if (!match) return undefined;
  const bytes = Number(match[1]) * (FACTORS.get(match[2] ?? '') ?? Number.NaN);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
