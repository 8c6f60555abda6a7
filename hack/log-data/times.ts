// Generates the timestamps of the log data set, in RFC 3339 format with nanoseconds.
import type { Random } from './random.ts';

/** Milliseconds since the epoch, and nanoseconds within that millisecond. */
export interface Moment {
  readonly ms: number;
  readonly ns: number;
}

/** RFC 3339 with nine fractional digits. */
export function instantOf({ ms, ns }: Moment): string {
  return new Date(ms).toISOString().replace('Z', `${String(ns).padStart(6, '0')}Z`);
}

/** Inverse of `instantOf`. */
export function momentOf(instant: string): Moment {
  return { ms: Date.parse(`${instant.slice(0, 23)}Z`), ns: Number(instant.slice(23, 29)) };
}

const PARTS = 96;

/**
 * `count` ascending times between start and end: quiet periods and bursts, sometimes several in the same millisecond or
 * nanosecond.
 */
export function* moments(start: number, end: number, count: number, random: Random): Generator<Moment> {
  const weights = Array.from({ length: PARTS }, () => 0.05 + random.fraction() ** 4);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  let done = 0;
  let last: Moment = { ms: start, ns: 0 };
  let before = 0;
  for (const [part, weight] of weights.entries()) {
    before += weight;
    const until = part === PARTS - 1 ? count : Math.round((count * before) / sum);
    const from = start + ((end - start) * part) / PARTS;
    const width = (end - start) / PARTS;
    for (const first = done; done < until; done++) {
      const place = Math.floor(from + (width * (done - first)) / (until - first));
      last = done === 0 ? last : next(last, place, random);
      yield last;
    }
  }
}

function next(last: Moment, place: number, random: Random): Moment {
  const chance = random.fraction();
  if (chance < 0.12) return last;
  if (chance < 0.22 && last.ns < 900_000) return { ms: last.ms, ns: last.ns + 1 + random.below(50_000) };
  // Some programs log only milliseconds.
  const ns = chance < 0.3 ? 0 : random.below(1_000_000);
  return place > last.ms ? { ms: place, ns } : { ms: last.ms, ns: Math.max(ns, last.ns) };
}
