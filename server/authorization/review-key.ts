import { hash } from 'node:crypto';

/** Enough for most callers: making a digest takes longer than looking up a text of this length. */
const SHORT = 1024;
/** A caller who sends more than this in one question is answered, but not remembered. */
const LONGEST = 16 * 1024;

/**
 * The key of an answer: the question itself, or its digest when it is long, since anybody can ask for long paths and fill
 * the cache with them. Undefined when the answer is not to be kept.
 */
export function reviewKey(question: string): string | undefined {
  if (question.length <= SHORT) return question;
  return question.length <= LONGEST ? hash('sha256', question, 'base64') : undefined;
}
