// Errors of VictoriaLogs as StatusErrors. The message of the store becomes the cause, which only the log shows.
import type { IncomingMessage } from 'node:http';
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import {
  newCredentialsRejected,
  newNotSupported,
  newStoreTimeout,
  newStoreUnavailable,
} from '../../store-errors.ts';

export const STORE = 'victorialogs';

/** Characters of an error message that are kept: the last ones, because the store repeats the request before them. */
const MAX_MESSAGE = 500;
/** Characters of an error message that are read. */
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

/** A response that is cut off, or is none of VictoriaLogs. */
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
export async function rejectionOf(response: IncomingMessage): Promise<RejectedError> {
  let message = '';
  let read = 0;
  response.setEncoding('utf8');
  for await (const chunk of response) {
    const text = String(chunk);
    message = `${message}${text}`.slice(-MAX_MESSAGE);
    read += text.length;
    if (read > MAX_READ) break;
  }
  return new RejectedError(response.statusCode ?? 0, message.trim());
}

const TIMED_OUT = /(?:couldn't be executed in|couldn't start executing the request in) /;
const OUT_OF_MEMORY = /requires more than \d+\s?MB/;
const INVALID_PATTERN = /expression too large|expression nests too deeply|invalid repeat count/;

/** The parameter to change when a query takes more memory than the store has. */
const MEMORY_PARAMETER = 'end_time';

/** Whether the query takes more memory than the store has. */
export function isOutOfMemory(error: unknown): boolean {
  return error instanceof StatusError && error.details?.causes?.[0]?.field === MEMORY_PARAMETER;
}

export interface CallState {
  /** The caller's. */
  readonly signal: AbortSignal;
  /** Whether the time of the call has passed. */
  readonly isOver: boolean;
  /** Milliseconds since the store responded to any request; 0 when it may only be slow. */
  readonly silentMs: number;
}

export function statusErrorOf(error: unknown, { signal, isOver, silentMs }: CallState): StatusError {
  if (error instanceof StatusError) return error;
  if (signal.aborted && signal.reason instanceof StatusError) return signal.reason;
  const message = error instanceof Error ? error.message : '';
  // The message names the flag for more concurrent requests, when these were the reason.
  if (TIMED_OUT.test(message)) return newStoreTimeout(STORE, { cause: error });
  if (signal.aborted || isOver) return newStoreTimeout(STORE, { silentMs });
  if (error instanceof RejectedError && error.status === 401) return newCredentialsRejected(STORE);
  if (INVALID_PATTERN.test(message)) return newNotSupported(STORE, 'log_query', 'use a shorter pattern');
  if (OUT_OF_MEMORY.test(message))
    return newNotSupported(STORE, MEMORY_PARAMETER, 'use a shorter time range');
  return newStoreUnavailable(STORE, error);
}
