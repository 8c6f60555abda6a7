// A row of the tables of limits, and the formats of its values.
import { table } from './markdown-table.ts';

/** Subject, value, and the result for a client that reaches the limit. */
export type Limit = readonly [subject: string, value: string, result: string];

export function limitTable(limits: readonly Limit[]): string {
  return table(
    ['limit', 'value', 'beyond the limit'],
    limits.map((limit) => [...limit]),
  );
}

export function count(value: number): string {
  return value.toLocaleString('en');
}

export function bytes(value: number): string {
  const [unit, size] = value >= 1 << 20 ? ['MiB', 1 << 20] : ['KiB', 1 << 10];
  return `${value / size} ${unit}`;
}

export function time(milliseconds: number): string {
  const units = [
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1_000],
  ] as const;
  // A minute is 60 s, as in the options.
  const [unit, size] = units.find(
    ([unit, size]) => (unit === 's' || milliseconds > size) && milliseconds % size === 0,
  ) ?? ['ms', 1];
  return `${milliseconds / size} ${unit}`;
}
