// What is wrong with a time that is no whole number of seconds since 1970, in words that name the seconds that were meant.
import { MAX_SECONDS } from './log-query.ts';

/** Units that a time can only be in, by how many digits it has: from 1973 on, to 2286. */
const FINER: readonly {
  readonly unit: string;
  readonly length: readonly number[];
  readonly perSecond: number;
}[] = [
  { unit: 'milliseconds', length: [12, 13], perSecond: 1e3 },
  { unit: 'microseconds', length: [15, 16], perSecond: 1e6 },
  { unit: 'nanoseconds', length: [18, 19], perSecond: 1e9 },
];

export function secondsFault(value: unknown): string {
  const text = String(value);
  const [, digits = ''] = /^(\d+)(?:\.\d*)?$/.exec(text) ?? [];
  const finer = FINER.find(({ length }) => length.includes(digits.length));
  if (finer) {
    const seconds = Math.floor(Number(digits) / finer.perSecond);
    return `is in ${finer.unit}; times are whole Unix seconds, here ${seconds}`;
  }
  if (/^-\d/.test(text)) return 'is before 1970; times are whole Unix seconds from 0';
  if (/^\d+\.\d*$/.test(text) && Number(text) <= MAX_SECONDS) {
    return `is a fraction; times are whole Unix seconds, here ${Math.floor(Number(text))}`;
  }
  const date = dateIn(text);
  const here = date >= 0 ? `, here ${Math.floor(date / 1000)}` : '';
  return `is not a time; times are whole Unix seconds, at most ${MAX_SECONDS}${here}`;
}

/** Milliseconds since the epoch; NaN for what is no date. Without a zone it is one of UTC, wherever the server stands. */
function dateIn(text: string): number {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return Number.NaN;
  return Date.parse(/:\d{2}(?:\.\d+)?$/.test(text) && !/[+-]\d{2}:\d{2}$/.test(text) ? `${text}Z` : text);
}
