// All who follow: each asks the store again and again for what is new, and all of them together no more often than it
// bears.
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { instantOf } from '../../../instant.ts';
import type { Call, LogRecord } from '../../../log-store.ts';
import { type Asking, Deadline } from '../requests/asking.ts';
import { NewLines, type NewLinesWanted } from './new-lines.ts';

export interface FollowersOptions {
  readonly asking: Asking;
  readonly log: Pick<Logger, 'warn'>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const POLL_MS = 200;
/** All together ask about a hundred times a second. */
const POLL_MS_EACH = 10;
const POLL_TIMEOUT_MS = 30_000;
/** Lines that come to the store later than this after they were written are not seen by those who follow. */
const LATENESS_MS = 30_000;
/** How long the store may be away before those who follow are told. */
const OUTAGE_MS = 60_000;

export class Followers {
  readonly #options: FollowersOptions;
  #count = 0;

  constructor(options: FollowersOptions) {
    this.#options = options;
  }

  async *follow(
    wanted: NewLinesWanted,
    { signal }: Pick<Call, 'signal'>,
  ): AsyncGenerator<readonly LogRecord[], void, undefined> {
    const { asking, log, now } = this.#options;
    const lines = new NewLines(asking, wanted);
    let answeredAt = now();
    let low = wanted.start;
    let isFirst = true;
    this.#count++;
    try {
      while (!signal.aborted) {
        const asked = now();
        try {
          const deadline = new Deadline({ signal, timeoutMs: POLL_TIMEOUT_MS }, now);
          for await (const records of lines.since(low, deadline)) if (records.length > 0) yield records;
          [answeredAt, isFirst] = [asked, false];
          low = instantOf(asked - LATENESS_MS);
        } catch (error) {
          if (signal.aborted) return;
          if (isFirst || now() - answeredAt > OUTAGE_MS) throw error;
          log.warn({ err: error }, 'the log store does not answer; who follows logs has to wait');
        }
        // Reading the clock, not counting: a slow answer is followed by the next question at once.
        const wait = asked + Math.max(POLL_MS, this.#count * POLL_MS_EACH) - now();
        if (wait > 0) await delay(wait, undefined, { signal }).catch(() => undefined);
      }
    } finally {
      this.#count--;
    }
  }
}
