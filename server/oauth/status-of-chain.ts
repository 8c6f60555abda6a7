// Errors of the Kubernetes family, thrown by what the token handler is built on.
import { StatusError } from '../../apis/meta/v1/errors.ts';

export function isTooManyRequests(error: unknown): boolean {
  return error instanceof StatusError && error.code === 429;
}

export function isServiceUnavailable(error: unknown): boolean {
  return error instanceof StatusError && error.code === 503;
}

/** Whole seconds, when the error says how long to wait. */
export function retryAfterSeconds(error: unknown): number | undefined {
  return error instanceof StatusError ? error.details?.retryAfterSeconds : undefined;
}
