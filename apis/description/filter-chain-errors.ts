// Defines the security schemes and error responses that all operations share in the OpenAPI documents.

/** Security schemes of operations that require an authenticated caller. */
export const AUTHENTICATED = [['bearer'], ['oauth']] as const;
export const PUBLIC = [] as const;

/** Error responses of the filter chain, as a Status. */
export const COMMON_ERRORS = {
  400: 'The request is invalid; the causes name every invalid parameter.',
  401: 'The credentials are invalid.',
  403: 'The caller does not have the permission.',
  405: 'The method is not allowed.',
  429: 'Too many requests, or too many attempts.',
  500: 'Internal error.',
  503: 'Temporarily unavailable.',
  504: 'Timeout.',
} as const;
