// Types of `meta.k8s.io/v1` Status, the error response of every Kubernetes path.

/** `meta.k8s.io/v1` Status, the error response of every Kubernetes path. */
export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  /** `continue`: for an expired continue token, a token that continues at the current resourceVersion. */
  readonly metadata: { readonly continue?: string };
  readonly status: 'Success' | 'Failure';
  readonly message: string;
  readonly reason?: StatusReason;
  readonly details?: StatusDetails;
  readonly code: number;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  /** Whole seconds, also sent as the header `Retry-After`. */
  readonly retryAfterSeconds?: number;
}

export interface StatusCause {
  /** A machine-readable cause, for instance `FieldValueInvalid` or `ResourceVersionTooLarge`. */
  readonly reason?: string;
  readonly message: string;
  /** The invalid parameter or JSON path. */
  readonly field?: string;
}

export const STATUS_REASONS = [
  'BadRequest',
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'MethodNotAllowed',
  'NotAcceptable',
  'Conflict',
  'AlreadyExists',
  'Gone',
  'Expired',
  'Invalid',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'TooManyRequests',
  'InternalError',
  'ServiceUnavailable',
  'Timeout',
] as const;
export type StatusReason = (typeof STATUS_REASONS)[number];
