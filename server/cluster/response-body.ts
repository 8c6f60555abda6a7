import type { IncomingMessage } from 'node:http';
import type { StatusError } from '../../apis/meta/v1/errors.ts';
import { statusErrorOf } from './status-response.ts';
import { wholeBody } from './whole-body.ts';

/** The whole body, at most `limit` bytes; a longer one destroys the answer and throws. */
export async function readBody(response: IncomingMessage, limit: number): Promise<Buffer> {
  try {
    return await wholeBody(response, limit, {
      tooLong: () => new Error(`the answer is longer than ${limit} bytes`),
      cut: (cause = new Error('the answer was cut')) => cause,
    });
  } catch (error) {
    response.destroy();
    throw error;
  }
}

const ERROR_BODY_LIMIT = 1 << 20;

/** The error that an answer outside 2xx stands for; reads its body. */
export async function readError(response: IncomingMessage): Promise<StatusError> {
  const text = (await readBody(response, ERROR_BODY_LIMIT)).toString('utf8');
  return statusErrorOf(response.statusCode ?? 0, parsedOrText(text), response.headers['retry-after']);
}

function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
