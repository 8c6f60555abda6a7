import type { IncomingMessage } from 'node:http';
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import type { StatusCause, StatusDetails, StatusReason } from '../../../apis/meta/v1/status.ts';
import { record, text } from '../../../apis/reading/unknown-value.ts';
import { wholeBody } from './whole-body.ts';

/** Nothing came for too long: the connection counts as dead although nobody has closed it. */
export class StalledError extends Error {
  constructor(idleMs: number) {
    super(`nothing was received for ${idleMs} ms`);
    this.name = 'StalledError';
  }
}

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

/** What an answer without a usable Status is taken for. Its keys also prove the list of reasons complete. */
const REASON_CODES: Record<StatusReason, number> = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  Conflict: 409,
  AlreadyExists: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
};

/**
 * The error in an answer of kube-apiserver, or in an ERROR event of a watch: its Status where `body` holds one, else
 * what the HTTP code says. `retryAfter`: the header, whole seconds.
 */
export function statusErrorOf(code: number, body: unknown, retryAfter?: string): StatusError {
  const parsed = record(body);
  const status = parsed['kind'] === 'Status' ? parsed : {};
  const actualCode = typeof status['code'] === 'number' ? status['code'] : code;
  const message = text(status['message']) || `kube-apiserver answered ${actualCode}`;
  const details = { ...detailsOf(status['details']), ...retryAfterOf(retryAfter) };
  return new StatusError(
    actualCode,
    reasonOf(status['reason'], actualCode),
    message,
    Object.keys(details).length > 0 ? details : undefined,
  );
}

function reasonOf(reason: unknown, code: number): StatusReason {
  const reasons = Object.keys(REASON_CODES) as StatusReason[];
  return (
    reasons.find((known) => known === reason) ??
    reasons.find((known) => REASON_CODES[known] === code) ??
    'InternalError'
  );
}

function detailsOf(value: unknown): StatusDetails {
  const details = record(value);
  const member = (name: string) => (typeof details[name] === 'string' ? { [name]: details[name] } : {});
  const seconds = details['retryAfterSeconds'];
  return {
    ...member('name'),
    ...member('group'),
    ...member('kind'),
    ...member('uid'),
    ...(Array.isArray(details['causes']) ? { causes: details['causes'].map(causeOf) } : {}),
    ...(typeof seconds === 'number' ? { retryAfterSeconds: seconds } : {}),
  };
}

function causeOf(value: unknown): StatusCause {
  const cause = record(value);
  return {
    message: text(cause['message']),
    ...(typeof cause['reason'] === 'string' ? { reason: cause['reason'] } : {}),
    ...(typeof cause['field'] === 'string' ? { field: cause['field'] } : {}),
  };
}

function retryAfterOf(header: string | undefined): StatusDetails {
  return header !== undefined && /^\d{1,6}$/.test(header) ? { retryAfterSeconds: Number(header) } : {};
}
