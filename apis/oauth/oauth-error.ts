// Defines the error codes and errors of the OAuth endpoints (RFC 6749, 5.2). Error descriptions never contain client
// input.

/** Codes of JSON error responses, and of redirects to clients. */
export const OAUTH_ERROR_CODES = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_token_type',
  'invalid_scope',
  'invalid_token',
  'access_denied',
  'login_required',
  'interaction_required',
  'account_selection_required',
  'server_error',
  'temporarily_unavailable',
  // RFC 8628, 3.5.
  'authorization_pending',
  'slow_down',
  'expired_token',
  // Of authorization requests: RFC 6749, 4.1.2.1; OpenID Connect Core, 3.1.2.6; OpenID Connect Core Error Code
  // unmet_authentication_requirements.
  'unsupported_response_type',
  'request_not_supported',
  'request_uri_not_supported',
  'registration_not_supported',
  'unmet_authentication_requirements',
] as const;

export type OAuthErrorCode = (typeof OAUTH_ERROR_CODES)[number];

interface OAuthErrorOptions {
  /** Whole seconds, for `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** The value of `WWW-Authenticate`, where the RFC requires one. */
  readonly challenge?: string;
  /** The value of `Allow`, with 405. */
  readonly allow?: string;
  /** For the log only. */
  readonly cause?: unknown;
}

export class OAuthError extends Error {
  /** HTTP status. */
  readonly status: number;
  readonly code: OAuthErrorCode;
  readonly retryAfterSeconds: number | undefined;
  readonly challenge: string | undefined;
  readonly allow: string | undefined;

  /** `description` holds only %x20-21 / %x23-5B / %x5D-7E (RFC 6749, 5.2). */
  constructor(status: number, code: OAuthErrorCode, description: string, options: OAuthErrorOptions = {}) {
    super(description, { cause: options.cause });
    this.name = 'OAuthError';
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.challenge = options.challenge;
    this.allow = options.allow;
  }
}

export function invalidRequest(description: string): OAuthError {
  return new OAuthError(400, 'invalid_request', description);
}

/** `allow`: the allowed methods. */
export function methodNotAllowed(allow: string): OAuthError {
  return new OAuthError(405, 'invalid_request', 'the method is not allowed', { allow });
}

export function unsupportedBody(description: string): OAuthError {
  return new OAuthError(415, 'invalid_request', description);
}

/**
 * Error for an unknown client or a wrong secret, which must have the same description. `basic`: the client used the
 * Authorization header. `cause`: for the log.
 */
export function invalidClient(
  basic: boolean,
  cause?: unknown,
  description = 'client authentication failed',
): OAuthError {
  return new OAuthError(401, 'invalid_client', description, {
    cause,
    ...(basic ? { challenge: 'Basic realm="oauth", charset="UTF-8"' } : {}),
  });
}

/**
 * Error for an invalid grant. A wrong name, a wrong password and a disabled user must have the same description.
 * `cause`: for the log.
 */
export function invalidGrant(description: string, cause?: unknown): OAuthError {
  return new OAuthError(400, 'invalid_grant', description, { cause });
}

export function unauthorizedClient(description: string): OAuthError {
  return new OAuthError(400, 'unauthorized_client', description);
}

/** RFC 7009, 2.2.1. */
export function unsupportedTokenType(description: string): OAuthError {
  return new OAuthError(400, 'unsupported_token_type', description);
}

/** Error for a throttled attempt, compatible with clients that expect 429 and `invalid_grant`. */
export function tooManyAttempts(retryAfterSeconds: number, cause?: unknown): OAuthError {
  return new OAuthError(429, 'invalid_grant', 'too many attempts, try again later', {
    retryAfterSeconds,
    cause,
  });
}

export function temporarilyUnavailable(
  description: string,
  retryAfterSeconds: number,
  cause?: unknown,
): OAuthError {
  return new OAuthError(503, 'temporarily_unavailable', description, { retryAfterSeconds, cause });
}

/** The text with the characters that `error_description` may have (RFC 6749, 5.2). */
export function descriptionText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]|["\\]/g, '?');
}
