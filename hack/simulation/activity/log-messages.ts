// Log lines of the applications in a lively cluster: regular traffic, errors, and the past hour.
import type { Random } from '../../log-data/random.ts';
import type { Application } from '../applications.ts';
import { criLine } from '../pod-logs.ts';

/** Share of the lines of regular traffic that are errors. */
const ERROR_RATE = 0.03;

/** Regular traffic: lines of each container, per second. */
export const LINES_PER_SECOND = 0.25;

/** The lines of a past hour, as many as later, and further ones of an outage. */
const PAST = {
  lines: 3_600 * LINES_PER_SECOND,
  intervalMs: 1_000 / LINES_PER_SECOND,
  peakLines: 240,
} as const;
/** Time of the errors in the past, in ms before now, and their duration. */
const PEAK = { beforeMs: 22 * 60_000, durationMs: 2 * 60_000 } as const;

export class LogMessages {
  readonly #random: Random;
  #written = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** One line of regular traffic. */
  traffic(application: Application, ms: number): string {
    const isError = this.#random.chance(ERROR_RATE);
    return this.#line(application, isError, ms);
  }

  /** `count` errors. */
  errors(application: Application, count: number, ms: number): string {
    return Array.from({ length: count }, () => this.#line(application, true, ms)).join('');
  }

  /** The first line of a container. */
  start({ name, image }: Application, ms: number): string {
    return criLine(`INFO  ${name} started image=${image}`, this.#written++, ms);
  }

  /** The hour before `now`, with many errors at one time if the application had an outage. */
  past(application: Application, hadOutage: boolean, now: number): string {
    const { lines, intervalMs, peakLines } = PAST;
    const spread = (): number => this.#random.below(intervalMs);
    const times = Array.from({ length: lines }, (_, index) => now - (lines - index) * intervalMs + spread());
    const traffic = times.map((ms) => ({ ms, isError: this.#random.chance(ERROR_RATE) }));
    const peak = Array.from({ length: hadOutage ? peakLines : 0 }, () => ({
      ms: now - PEAK.beforeMs + this.#random.below(PEAK.durationMs),
      isError: true,
    }));
    return [...traffic, ...peak]
      .sort((left, right) => left.ms - right.ms)
      .map(({ ms, isError }) => this.#line(application, isError, ms))
      .join('');
  }

  #line({ messages }: Application, isError: boolean, ms: number): string {
    const wanted = messages.filter((message) => /error|fatal/i.test(message) === isError);
    return criLine(this.#random.pick(wanted.length > 0 ? wanted : messages), this.#written++, ms);
  }
}
