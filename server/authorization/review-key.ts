import { hash } from 'node:crypto';

/** Of most callers: a digest takes longer to make than such a text to look up. */
const SHORT = 1024;
/** A caller who sends more than this in one question is answered, but not remembered. */
const LONGEST = 16 * 1024;

/**
 * What an answer is kept by: the question, or its digest when it is long, since anybody can ask for long paths, and as
 * many as are remembered at a time. Undefined when it is not to be kept.
 */
export function reviewKey(question: string): string | undefined {
  if (question.length <= SHORT) return question;
  return question.length <= LONGEST ? hash('sha256', question, 'base64') : undefined;
}
