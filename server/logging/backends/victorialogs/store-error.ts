// Converts VictoriaLogs errors to StatusErrors. The message of the store is logged as `cause`, and never returned to
// clients.
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import type { UpstreamResponse } from '../../../upstream/upstream-response.ts';
import {
  newCredentialsRejected,
  newNotSupported,
  newStoreTimeout,
  newStoreUnavailable,
} from '../../store/store-errors.ts';

export const STORE = 'victorialogs';

/** Maximum length of an error message. Its end is used, because the store writes the request at the start of a message. */
const MAX_MESSAGE = 4_000;
/** Maximum number of characters that are read to find the end of an error message. */
const MAX_READ = 16 << 20;

/** A response with an error status. */
class RejectedError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(`status ${status}: ${message}`);
    this.name = 'RejectedError';
    this.status = status;
  }
}

/** A response that is truncated, or does not come from VictoriaLogs. */
export class MalformedResponseError extends Error {
  constructor(message: string) {
    super(`the response is malformed: ${message.slice(-MAX_MESSAGE)}`);
    this.name = 'MalformedResponseError';
  }
}

export function newMalformedResponse(message: string): StatusError {
  return newStoreUnavailable(STORE, new MalformedResponseError(message));
}

/** Reads the message of a response with an error status. */
export async function rejectionOf(response: UpstreamResponse): Promise<RejectedError> {
  let message = '';
  let read = 0;
  for await (const chunk of response.stream().setEncoding('utf8')) {
    const text = String(chunk);
    message = `${message}${text}`.slice(-MAX_MESSAGE);
    read += text.length;
    if (read > MAX_READ) break;
  }
  return new RejectedError(response.statusCode, message.trim());
}

const TIMED_OUT = /(?:couldn't be executed in|couldn't start executing the request in) /;
const OUT_OF_MEMORY = /requires more than \d+\s?MB/;
/** Errors of Go's regexp package, which also limits the size and the nesting of expressions. */
const INVALID_PATTERN = /error parsing regexp|expression too large|expression nests too deeply/;

const INVALID_EXPRESSION =
  'the regular expression is invalid or too large; its syntax is that of RE2, see docs/log-queries.md';

/** The query parameter to change when a query needs more memory than the store allows. */
const MEMORY_PARAMETER = 'end_time';

/** Whether the query needs more memory than the store allows. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof StatusError && error.details?.causes?.[0]?.field === MEMORY_PARAMETER;
}

interface CallState {
  /** Signal of the caller. */
  readonly signal: AbortSignal;
  /** Whether the deadline of the call has passed. */
  readonly isOver: boolean;
}

export function statusErrorOf(error: unknown, { signal, isOver }: CallState): StatusError {
  if (error instanceof StatusError) return error;
  if (signal.aborted && signal.reason instanceof StatusError) return signal.reason;
  const message = error instanceof Error ? error.message : '';
  // If the limit of concurrent requests was the reason, the message of the store names the flag of that limit.
  if (TIMED_OUT.test(message)) return newStoreTimeout(STORE, error);
  if (signal.aborted || isOver) return newStoreTimeout(STORE);
  if (error instanceof RejectedError && error.status === 401) return newCredentialsRejected(STORE);
  if (INVALID_PATTERN.test(message)) return newNotSupported(STORE, 'log_query', INVALID_EXPRESSION);
  if (OUT_OF_MEMORY.test(message))
    return newNotSupported(STORE, MEMORY_PARAMETER, 'use a shorter time range');
  return newStoreUnavailable(STORE, error);
}
