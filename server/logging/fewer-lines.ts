import { isPageTooLong } from './store-errors.ts';

export interface FewerLines<Answer> {
  readonly answer: Answer;
  /** How many lines it was that were asked for in the end. */
  readonly asked: number;
}

/** Of lines that were too long, so many times fewer are asked for: nobody knows how long the next ones are. */
const TIMES = 4;

/** Asks for `size` lines, and for fewer as long as they are too long. Throws what `ask` throws. */
export async function fewerWhenTooLong<Answer>(
  size: number,
  ask: (size: number) => Promise<Answer>,
): Promise<FewerLines<Answer>> {
  for (let asked = size; ; asked = Math.ceil(asked / TIMES)) {
    try {
      return { answer: await ask(asked), asked };
    } catch (error) {
      if (!isPageTooLong(error) || asked <= 1) throw error;
    }
  }
}
