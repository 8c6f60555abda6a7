// All followers: each first gets older lines as in an export, then polls the store for new ones; all of them together no
// more often than the store can bear. What was given to one is in follower.ts.
import type { Logger } from 'pino';
import { pause } from '../../../../concurrency/pause.ts';
import { Deadline } from '../../../deadline.ts';
import type { Call, LogRecord } from '../../../log-store.ts';
import type { Queries } from '../requests/queries.ts';
import { Follower, OUTAGE_MS } from './follower.ts';
import type { NewLinesWanted } from './new-lines.ts';
import type { OldLinesWanted } from './old-lines.ts';
import { RememberedLines } from './remembered-lines.ts';

export interface FollowersOptions {
  readonly queries: Queries;
  readonly log: Pick<Logger, 'warn'>;
  /** A monotonic clock in ms. */
  readonly now: () => number;
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number;
  /** Lines; a million when none is given. */
  readonly maxRemembered?: number;
}

const POLL_MS = 200;
/** All together ask about a hundred times a second. */
const POLL_MS_EACH = 10;
/** Of the last half minute, for all who follow; some hundred bytes each. */
const MAX_REMEMBERED = 1_000_000;

export class Followers {
  readonly #options: FollowersOptions;
  readonly #remembered: RememberedLines;
  #count = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(options: FollowersOptions) {
    this.#options = options;
    this.#remembered = new RememberedLines(options.maxRemembered ?? MAX_REMEMBERED);
  }

  async *follow(
    wanted: NewLinesWanted & OldLinesWanted,
    { signal }: Pick<Call, 'signal'>,
  ): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { queries, now, wallClock } = this.#options;
    const follower = new Follower({ queries, wanted, remembered: this.#remembered, now });
    const deadline = new Deadline({ signal, timeoutMs: Number.POSITIVE_INFINITY }, now);
    this.#count++;
    try {
      while (!signal.aborted) {
        const began = now();
        const time = wallClock();
        try {
          if (follower.isBehind(time)) {
            yield* follower.catchUp(time, deadline);
            continue;
          }
          yield* follower.poll(time, deadline);
        } catch (error) {
          if (signal.aborted) return;
          if (!follower.outlives(error)) throw error;
          this.#tell(error);
        }
        // Reading the clock, not counting: a slow answer is followed by the next question at once.
        const wait = began + Math.max(POLL_MS, this.#count * POLL_MS_EACH) - now();
        if (wait > 0) await pause(wait, signal);
      }
    } finally {
      this.#count--;
      follower.close();
    }
  }

  /** Once for an outage: all of them fail together, and each tries again many times. */
  #tell(error: unknown): void {
    const { log, now } = this.#options;
    if (now() - this.#toldAt < OUTAGE_MS) return;
    this.#toldAt = now();
    log.warn({ err: error }, 'the log store does not answer; who follows logs has to wait');
  }
}
