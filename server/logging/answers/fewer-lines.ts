import { isPageTooLong } from '../store-errors.ts';

export interface FewerLines<Answer> {
  readonly answer: Answer;
  /** How many lines were asked for in the end. */
  readonly asked: number;
}

/** By how much the number of lines is divided when they were too long: the length of the next ones is unknown. */
const TIMES = 4;

/** Asks for `size` lines, and for fewer while the answer is too long. Throws what `ask` throws. */
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
