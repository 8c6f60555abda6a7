import type { IncomingMessage } from 'node:http';
import type { StatusError } from '../../../apis/meta/v1/errors.ts';
import { StalledError } from './live-body.ts';
import { statusErrorOf } from './status-response.ts';
import { wholeBody } from './whole-body.ts';

/** How long the rest of an answer may be silent, in ms, where nothing else is said. */
const IDLE_MS = 10_000;

/**
 * The whole body, at most `limit` bytes; a longer one, or one on which nothing comes for `idleMs`, destroys the answer
 * and throws.
 */
export async function readBody(response: IncomingMessage, limit: number, idleMs = IDLE_MS): Promise<Buffer> {
  // Most bodies came with their headers.
  const timer = response.complete
    ? undefined
    : setTimeout(() => response.destroy(new StalledError(idleMs)), idleMs);
  if (timer) response.on('data', () => timer.refresh());
  try {
    return await wholeBody(response, limit, {
      tooLong: () => new Error(`the answer is longer than ${limit} bytes`),
      cut: (cause = new Error('the answer was cut')) => cause,
    });
  } catch (error) {
    response.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

const ERROR_BODY_LIMIT = 1 << 20;

/** The error that an answer outside 2xx stands for; reads its body. */
export async function readError(response: IncomingMessage, idleMs?: number): Promise<StatusError> {
  const text = (await readBody(response, ERROR_BODY_LIMIT, idleMs)).toString('utf8');
  return statusErrorOf(response.statusCode ?? 0, parsedOrText(text), response.headers['retry-after']);
}

function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
