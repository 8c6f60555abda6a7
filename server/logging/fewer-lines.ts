import { pause } from '../concurrency/pause.ts';
import { isPageTooLong } from './page-limit.ts';
import { isStoreExhausted } from './store-errors.ts';

export interface FewerLines<Answer> {
  readonly answer: Answer;
  /** How many lines were asked for in the end. */
  readonly asked: number;
}

/** By how much the number of lines is divided when they were too much: the length of the next ones is unknown. */
const TIMES = 4;
/**
 * Before a store is asked again that was short of memory, and twice as long each time: what it counts as used is garbage
 * for the most part, and until that is collected it refuses whatever it is asked, be it a single line.
 */
const FIRST_PAUSE_MS = 200;

/** Asks for `size` lines, and for fewer while these are too long, or too much for the store. Throws what `ask` throws. */
export async function fewerWhenTooMuch<Answer>(
  size: number,
  ask: (size: number) => Promise<Answer>,
  signal: AbortSignal,
  wait = pause,
): Promise<FewerLines<Answer>> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let asked = size; ; asked = Math.ceil(asked / TIMES)) {
    try {
      return { answer: await ask(asked), asked };
    } catch (error) {
      const isExhausted = isStoreExhausted(error);
      if (asked <= 1 || !(isExhausted || isPageTooLong(error))) throw error;
      if (!isExhausted) continue;
      await wait(pauseMs, signal);
      pauseMs *= 2;
    }
  }
}
