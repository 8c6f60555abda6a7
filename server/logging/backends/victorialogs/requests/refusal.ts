// What the store's refusals mean to our callers. The store's own words go into the cause, which only the log shows.
import type { IncomingMessage } from 'node:http';
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import {
  newCredentialsRefused,
  newNotSupported,
  newStoreTimeout,
  newStoreUnavailable,
} from '../../../store-errors.ts';
import { BrokenAnswerError } from './rows.ts';

export const STORE = 'victorialogs';

/** Characters of a refusal that are worth keeping: the last ones. Before them the store repeats the request. */
const MAX_WORDS = 500;
/** Characters that are read of it: a request has at most some mebibytes. */
const MAX_READ = 16 << 20;

/** The store answered with an error. */
class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, words: string) {
    super(`status ${status}: ${words}`);
    this.name = 'RefusedError';
    this.status = status;
  }
}

export async function refusalOf(answer: IncomingMessage): Promise<RefusedError> {
  const status = answer.statusCode ?? 0;
  let words = '';
  let read = 0;
  answer.setEncoding('utf8');
  for await (const chunk of answer) {
    const text = String(chunk);
    words = `${words}${text}`.slice(-MAX_WORDS);
    read += text.length;
    if (read > MAX_READ) break;
  }
  return new RefusedError(status, words.trim());
}

const OUT_OF_TIME = /(?:couldn't be executed in|couldn't start executing the request in) /;
const TOO_LARGE = /requires more than \d+\s?MB/;
const BAD_PATTERN = /expression too large|expression nests too deeply|invalid repeat count/;

function isOutOfTime(error: unknown): boolean {
  return error instanceof Error && OUT_OF_TIME.test(error.message);
}

/** What callers have to change when a question takes more memory than the store has. */
const TOO_MUCH = 'end_time';

/** Whether it is a refusal for that reason, as a StatusError. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof StatusError && error.details?.causes?.[0]?.field === TOO_MUCH;
}

/** An answer that is well-formed but makes no sense. */
export function newNonsense(what: string): StatusError {
  return newStoreUnavailable(STORE, new BrokenAnswerError(what));
}

/** `signal`: of the caller. `isOver`: whether the time for the call has passed. `silentMs`: for how long nobody got an answer. */
export function statusOf(error: unknown, signal: AbortSignal, isOver: boolean, silentMs = 0): StatusError {
  if (error instanceof StatusError) return error;
  if (signal.aborted && signal.reason instanceof StatusError) return signal.reason;
  // A store whose places are all taken says how to give it more of them.
  if (isOutOfTime(error)) return newStoreTimeout(STORE, { cause: error });
  if (signal.aborted || isOver) return newStoreTimeout(STORE, { silentMs });
  if (error instanceof RefusedError && error.status === 401) return newCredentialsRefused(STORE);
  const words = error instanceof Error ? error.message : '';
  if (BAD_PATTERN.test(words)) return newNotSupported(STORE, 'log_query', 'ask for a shorter pattern');
  if (TOO_LARGE.test(words)) return newNotSupported(STORE, TOO_MUCH, 'ask for a shorter time');
  return newStoreUnavailable(STORE, error);
}
