import { StatusError } from '../../../apis/meta/v1/errors.ts';
import type { StatusCause, StatusDetails, StatusReason } from '../../../apis/meta/v1/status.ts';
import { record, text } from '../../../apis/reading/unknown-value.ts';

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
