/** Seconds, minutes, hours, days, weeks, months, quarters, years. */
export type IntervalUnit = 's' | 'm' | 'h' | 'd' | 'w' | 'M' | 'q' | 'y';

export interface LogInterval {
  readonly count: number;
  readonly unit: IntervalUnit;
}

/** Seconds of a unit; approximate from months on. */
const SECONDS: Readonly<Record<IntervalUnit, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  M: 2_629_800,
  q: 7_889_400,
  y: 31_557_600,
};
const LONGEST_YEARS = 100;

/** Throws an Error whose message is the validation error. */
export function parseInterval(text: string): LogInterval {
  const [, digits = '', letter = ''] = /^(\d+)([a-zA-Z])$/.exec(text) ?? [];
  if (!isUnit(letter)) {
    throw new Error('use a whole number with s, m, h, d, w, M (month), q (quarter) or y, for instance 15m');
  }
  const interval = { count: Number(digits), unit: letter };
  if (interval.count === 0) throw new Error('must be greater than 0');
  if (roughSeconds(interval) > LONGEST_YEARS * SECONDS.y) {
    throw new Error(`must not be longer than ${LONGEST_YEARS} years`);
  }
  return interval;
}

/** Exact up to weeks. */
export function roughSeconds({ count, unit }: LogInterval): number {
  return count * SECONDS[unit];
}

function isUnit(letter: string): letter is IntervalUnit {
  return Object.hasOwn(SECONDS, letter);
}
