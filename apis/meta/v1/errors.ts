// StatusErrors, the errors of the Kubernetes paths, with named constructors and predicates. The error writer of the
// filter chain writes them.
import { elided } from '../../reading/elided-text.ts';
import { goQuoted } from '../../reading/go-quote.ts';
import type { Status, StatusCause, StatusDetails, StatusReason } from './status.ts';

/** Longer than any message of the server; an error that repeats input must not be longer than the request. */
const MAX_MESSAGE = 4096;
/** Limit of a name, a field and the message of a cause. */
const MAX_DETAIL = 1024;

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** An error with the HTTP `code`, `reason` and `details` of a Status. */
export class StatusError extends Error {
  readonly reason: StatusReason;
  readonly code: number;
  readonly details: StatusDetails | undefined;
  readonly #continue: string | undefined;

  constructor(
    code: number,
    reason: StatusReason,
    message: string,
    details?: StatusDetails,
    options?: ErrorOptions & { readonly continue?: string },
  ) {
    super(message, options);
    this.name = 'StatusError';
    this.code = code;
    this.reason = reason;
    this.details = details;
    this.#continue = options?.continue;
  }

  /** The Status on the wire, with bounded texts. */
  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: this.#continue === undefined ? {} : { continue: this.#continue },
      status: 'Failure',
      message: elided(this.message, MAX_MESSAGE),
      reason: this.reason,
      ...(this.details ? { details: withinBounds(this.details) } : {}),
      code: this.code,
    };
  }
}

/** The number of causes is bounded by their collector, so that the message can contain the number of omitted ones. */
function withinBounds({ causes, ...details }: StatusDetails): StatusDetails {
  return { ...textsWithinBounds(details), ...(causes ? { causes: causes.map(textsWithinBounds) } : {}) };
}

function textsWithinBounds<T extends object>(members: T): T {
  const entries = Object.entries(members).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === 'string' ? elided(value, MAX_DETAIL) : value,
  ]);
  return Object.fromEntries(entries) as T;
}

function qualified({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** Omits empty members, as Go does. */
function detailsOf({ group, resource }: GroupResource, name: string): StatusDetails {
  return { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource };
}

export function newBadRequest(
  message: string,
  causes?: readonly StatusCause[],
  options?: ErrorOptions,
): StatusError {
  return new StatusError(400, 'BadRequest', message, causes && { causes }, options);
}

/** With QueryDecoder's wording, for errors found after decoding. */
export function newInvalidParameter(field: string, message: string): StatusError {
  return newBadRequest(`the query is not valid: ${field}: ${message}`, [
    { reason: 'FieldValueInvalid', message, field },
  ]);
}

/** One indistinct response; the `cause` goes to the log only. */
export function newUnauthorized(cause?: unknown): StatusError {
  return new StatusError(401, 'Unauthorized', 'Unauthorized', undefined, { cause });
}

export function newForbidden(target: GroupResource | undefined, name: string, message: string): StatusError {
  if (!target) return new StatusError(403, 'Forbidden', `forbidden: ${message}`, {});
  const subject = name === '' ? qualified(target) : `${qualified(target)} ${goQuoted(name)}`;
  return new StatusError(403, 'Forbidden', `${subject} is forbidden: ${message}`, detailsOf(target, name));
}

export function newNotFound(target: GroupResource, name: string): StatusError {
  const message = `${qualified(target)} ${goQuoted(name)} not found`;
  return new StatusError(404, 'NotFound', message, detailsOf(target, name));
}

/** No handler serves this path; kube-apiserver's wording. */
export function newPathNotFound(): StatusError {
  return new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function newMethodNotAllowed(method: string, target?: GroupResource): StatusError {
  const what = target ? ` of resource ${qualified(target)}` : '';
  return new StatusError(405, 'MethodNotAllowed', `the server does not allow ${method}${what}`, {});
}

export function newNotAcceptable(accepted: readonly string[]): StatusError {
  return new StatusError(
    406,
    'NotAcceptable',
    `only the following media types are accepted: ${accepted.join(', ')}`,
  );
}

export function newConflict(target: GroupResource, name: string, message: string): StatusError {
  const why = `Operation cannot be fulfilled on ${qualified(target)} ${goQuoted(name)}: ${message}`;
  return new StatusError(409, 'Conflict', why, detailsOf(target, name));
}

/** A removed operation; `message` names the replacement. */
export function newGone(message: string): StatusError {
  return new StatusError(410, 'Gone', message);
}

/** An expired page of a list; `token` continues after the last object at the current version. */
export function newExpiredPage(message: string, token: string): StatusError {
  return new StatusError(410, 'Expired', message, undefined, { continue: token });
}

/** The resourceVersion or continue token is too old; clients relist. */
export function newExpired(message: string): StatusError {
  return new StatusError(410, 'Expired', message);
}

export function newRequestEntityTooLarge(message: string): StatusError {
  return new StatusError(413, 'RequestEntityTooLarge', message);
}

export function newUnsupportedMediaType(message: string): StatusError {
  return new StatusError(415, 'UnsupportedMediaType', message);
}

export function newInvalid(
  message: string,
  causes: readonly StatusCause[],
  target: Pick<StatusDetails, 'group' | 'kind' | 'name'> = {},
): StatusError {
  return new StatusError(422, 'Invalid', message, { ...target, causes });
}

export function newTooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  return new StatusError(429, 'TooManyRequests', message, { retryAfterSeconds });
}

/** Status 500 without internal text; `cause` goes to the log only. */
export function newInternalError(cause: unknown): StatusError {
  return new StatusError(500, 'InternalError', 'Internal error occurred', undefined, { cause });
}

export function newServiceUnavailable(
  message: string,
  retryAfterSeconds = 1,
  options?: ErrorOptions,
): StatusError {
  return new StatusError(503, 'ServiceUnavailable', message, { retryAfterSeconds }, options);
}

export function newTimeout(
  message: string,
  retryAfterSeconds: number,
  causes?: readonly StatusCause[],
  options?: ErrorOptions,
): StatusError {
  const details = { ...(causes ? { causes } : {}), retryAfterSeconds };
  return new StatusError(504, 'Timeout', message, details, options);
}

function hasReason(error: unknown, reason: StatusReason): boolean {
  return error instanceof StatusError && error.reason === reason;
}

export const isUnauthorized = (error: unknown): boolean => hasReason(error, 'Unauthorized');
export const isNotFound = (error: unknown): boolean => hasReason(error, 'NotFound');
export const isConflict = (error: unknown): boolean => hasReason(error, 'Conflict');
export const isAlreadyExists = (error: unknown): boolean => hasReason(error, 'AlreadyExists');
export const isExpired = (error: unknown): boolean => hasReason(error, 'Expired');
export const isTimeout = (error: unknown): boolean => hasReason(error, 'Timeout');
export const isRequestEntityTooLarge = (error: unknown): boolean => hasReason(error, 'RequestEntityTooLarge');
export const isInvalid = (error: unknown): error is StatusError => hasReason(error, 'Invalid');
export const isTooManyRequests = (error: unknown): boolean => hasReason(error, 'TooManyRequests');
export const isServiceUnavailable = (error: unknown): boolean => hasReason(error, 'ServiceUnavailable');

/** Whole seconds, if the error has a retry delay. */
export function retryAfterSeconds(error: unknown): number | undefined {
  return error instanceof StatusError ? error.details?.retryAfterSeconds : undefined;
}
