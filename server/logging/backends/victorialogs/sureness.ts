import type { Question, Questions } from './question.ts';

/**
 * Asks the quick way first. When lines turn up that it can not judge, which are those with letters of other scripts
 * beside what was looked for, asks the exact way. `ask` is given the filter that tells those lines, to count them.
 */
export async function surely<Answer extends { readonly unsure: number }>(
  { quick, exact }: Questions,
  ask: (question: Question, unsure: string | undefined) => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly isQuick: boolean }> {
  if (quick) {
    const answer = await ask(quick, quick.unsure);
    if (answer.unsure === 0) return { answer, isQuick: true };
  }
  return { answer: await ask(exact, undefined), isQuick: false };
}
