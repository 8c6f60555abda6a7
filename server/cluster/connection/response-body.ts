// Reader of complete responses of kube-apiserver, with a size limit and an idle timeout. Failed requests throw a
// StatusError.
import { StatusError } from '../../../apis/meta/v1/errors.ts';
import type { StatusCause, StatusDetails, StatusReason } from '../../../apis/meta/v1/status.ts';
import { parseBoundedJSON } from '../../../apis/reading/bounded-json.ts';
import { record, text } from '../../../apis/reading/unknown-value.ts';
import type { UpstreamResponse } from '../../upstream/upstream-response.ts';

/** Default idle timeout of a response body, in ms. */
const IDLE_MS = 10_000;

/** Reads the whole body. Throws when it exceeds `limit` bytes, or when no data arrives for `idleMs`. */
export function readBody(response: UpstreamResponse, limit: number, idleMs = IDLE_MS): Promise<Buffer> {
  return response.bytes({
    maxBytes: limit,
    tooLong: () => new Error(`the response is longer than ${limit} bytes`),
    idleMs,
  });
}

const ERROR_BODY_LIMIT = 1 << 20;

/** Reads the body of a response whose status is not 2xx, and returns its error. */
export async function readError(response: UpstreamResponse, idleMs?: number): Promise<StatusError> {
  const body = await readBody(response, ERROR_BODY_LIMIT, idleMs);
  return statusErrorOf(response.statusCode, parsed(body), response.headers['retry-after']);
}

/** Returns undefined for a body that is not JSON. */
function parsed(body: Buffer): unknown {
  try {
    return parseBoundedJSON(body);
  } catch {
    return undefined;
  }
}

/**
 * The HTTP status of each reason, for responses without a valid Status object. The type makes the compiler require all
 * reasons.
 */
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
 * Returns the StatusError of a failed response or of an ERROR event. Its source is the Status object in `body`, or the
 * HTTP `code` if there is none. `retryAfter`: the header Retry-After, in whole seconds.
 */
export function statusErrorOf(code: number, body: unknown, retryAfter?: string): StatusError {
  const parsed = record(body);
  const status = parsed['kind'] === 'Status' ? parsed : {};
  const actualCode = typeof status['code'] === 'number' ? status['code'] : code;
  const message = text(status['message']) || `kube-apiserver responded with ${actualCode}`;
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
