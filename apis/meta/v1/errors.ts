// StatusError: an error that clients receive as a Status response. Each reason has functions that create and detect the
// error.
import { elided } from '../../reading/elided-text.ts';
import { goQuoted } from '../../reading/go-quote.ts';
import type { Status, StatusCause, StatusDetails, StatusReason } from './status.ts';

/** Maximum length of the message of a response. Messages can contain input, which can be long. */
export const MAX_MESSAGE = 4096;
/** Maximum length of a name, a field, and the message of a cause. */
export const MAX_DETAIL = 1024;

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

  /** Returns the Status object of the response, with truncated texts. */
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

/** Truncates the texts. The creator of the error limits the number of causes, because its message has the total. */
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

/** Returns the details of a resource. Empty fields are omitted, as in Go. */
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

/** Returns an error with the wording of QueryDecoder, for invalid parameters that are found after decoding. */
export function newInvalidParameter(
  field: string,
  message: string,
  {
    reason = 'FieldValueInvalid',
    cause,
  }: { readonly reason?: StatusCause['reason']; readonly cause?: unknown } = {},
): StatusError {
  return newBadRequest(
    `the query is not valid: ${field}: ${message}`,
    [{ reason, message, field }],
    cause === undefined ? undefined : { cause },
  );
}

/**
 * Returns the same response for every failure of authentication. `cause` is only logged. `message`: only for a credential
 * whose signature is verified.
 */
export function newUnauthorized(cause?: unknown, message = 'Unauthorized'): StatusError {
  return new StatusError(401, 'Unauthorized', message, undefined, { cause });
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

/** Returns the error for a resource in a path that is not served. `reason` says why, and how to change it. */
export function newResourceNotFound(resource: string, reason: string): StatusError {
  return new StatusError(404, 'NotFound', reason, { kind: resource });
}

/** Returns the error for a path without a handler, with kube-apiserver's wording. */
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

/** Returns the error for a removed operation. `message` names the replacement. */
export function newGone(message: string): StatusError {
  return new StatusError(410, 'Gone', message);
}

/** Returns the error for an expired continue token. `token` continues the list at the current resourceVersion. */
export function newExpiredPage(message: string, token: string): StatusError {
  return new StatusError(410, 'Expired', message, undefined, { continue: token });
}

/** Returns the error for a resourceVersion or continue token that is too old. Clients relist. */
export function newExpired(message: string): StatusError {
  return new StatusError(410, 'Expired', message);
}

/** Returns the error for a body above `maxBytes`, with kube-apiserver's wording. */
export function newRequestEntityTooLarge(maxBytes: number): StatusError {
  return new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${maxBytes}`);
}

export function newUnsupportedMediaType(message: string): StatusError {
  return new StatusError(415, 'UnsupportedMediaType', message);
}

/** Returns an error with the wording of apimachinery. `texts`: the causes in words. */
export function newInvalid(
  object: Readonly<Record<'group' | 'kind' | 'name', string>>,
  causes: readonly StatusCause[],
  texts: readonly string[],
): StatusError {
  const { group, kind, name } = object;
  const summary = texts.length === 1 ? texts.join() : `[${texts.join(', ')}]`;
  const message = `${kind}.${group} ${goQuoted(name)} is invalid: ${summary}`;
  // An empty name is omitted, as by kube-apiserver.
  const details = { group, kind, ...(name === '' ? {} : { name }), causes };
  return new StatusError(422, 'Invalid', message, details);
}

export function newTooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  return new StatusError(429, 'TooManyRequests', message, { retryAfterSeconds });
}

/** Returns an error with a constant message. `cause` is only logged. */
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

/** Returns the delay in whole seconds after which a client can retry, if the error has one. */
export function retryAfterSeconds(error: unknown): number | undefined {
  return error instanceof StatusError ? error.details?.retryAfterSeconds : undefined;
}
