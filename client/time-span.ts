// Spans of time as short texts.

const UNITS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
];

/**
 * A span of time in milliseconds in its largest unit, for example `5m`, as for ages and for the parameter `interval` of
 * histograms. `90m` is `1h`, as kubectl prints it from three hours on.
 */
export function spanOf(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  for (const [size, unit] of UNITS) if (seconds >= size) return `${Math.floor(seconds / size)}${unit}`;
  return `${seconds}s`;
}
