// A store that refuses a question because it has too much to do is asked again, a moment later: most of it is done by then.
import { Backoff } from '../../../../concurrency/backoff.ts';
import { pause } from '../../../../concurrency/pause.ts';
import { Deadline } from '../../../deadline.ts';
import type { Call } from '../../../log-store.ts';
import { isStoreExhausted } from '../../../store-errors.ts';
import { loadIn } from './refusal.ts';

export interface AskedAgain {
  /** Whether who asks can do with fewer lines, and so asks again by itself where the store has no memory for all. */
  readonly isOfLines: boolean;
  /** A monotonic clock in ms. */
  readonly now: () => number;
  /** Drawn between half of it and all of it, and twice as long the second time. */
  readonly firstPauseMs?: number | undefined;
}

const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 400;
/** How many times longer than a pause the time has to be that is left: the store needs some for the answer. */
const ROOM = 2;

/** What `ask` answers, which is given what is left of the time. Throws as it does; the caller's reason once it has left. */
export async function askedAgainWhileBusy<Answer, Asking extends Call>(
  call: Asking,
  { isOfLines, now, firstPauseMs = FIRST_PAUSE_MS }: AskedAgain,
  ask: (call: Asking) => Promise<Answer>,
): Promise<Answer> {
  const deadline = new Deadline(call, now);
  const backoff = new Backoff({ initialMs: firstPauseMs, maxMs: Infinity, random: Math.random });
  for (let attempt = 1, rest = call; ; attempt++, rest = { ...call, timeoutMs: deadline.leftMs }) {
    try {
      return await ask(rest);
    } catch (error) {
      const load = isOfLines && isStoreExhausted(error) ? undefined : loadIn(error);
      if (!load || attempt === ATTEMPTS) throw error;
      // Many may be told the same time.
      const ms = (load.retryAfterSeconds ?? 0) * 1_000 + backoff.next();
      if (ms * ROOM > deadline.leftMs) throw error;
      await pause(ms, call.signal);
      call.signal.throwIfAborted();
    }
  }
}
