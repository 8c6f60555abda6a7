// StatusErrors for failures of log stores. Clients never receive the store's own message, which can contain internal
// addresses.
import {
  newInvalidParameter,
  newServiceUnavailable,
  newTimeout,
  StatusError,
} from '../../../apis/meta/v1/errors.ts';
import { UnfitOptionError } from './configuration-errors.ts';

/** The store is down, rejects this server or returns an invalid response: 503, may be retried. */
export function newStoreUnavailable(store: string, cause: unknown): StatusError {
  return newServiceUnavailable(`the log store ${store} is unavailable; try again later`, 5, {
    cause,
  });
}

class StoreExhaustedError extends StatusError {}

/** The store has too little memory for the request: 503. A retry with fewer lines may succeed. */
export function newStoreExhausted(store: string, cause: unknown): StatusError {
  const message = `the log store ${store} is short of memory; try again later, or request fewer lines`;
  return new StoreExhaustedError(503, 'ServiceUnavailable', message, { retryAfterSeconds: 5 }, { cause });
}

export function isStoreExhausted(error: unknown): boolean {
  return error instanceof StoreExhaustedError;
}

/** The store is overloaded: 503 with Retry-After. */
export function newStoreBusy(store: string, cause: unknown): StatusError {
  return newServiceUnavailable(`the log store ${store} is overloaded; try again later`, 5, { cause });
}

class IndexAccessDeniedError extends StatusError {}

/** The store denies this server access to some indices of the range: 503. Another range may succeed. */
export function newIndexAccessDenied(store: string, cause: unknown): StatusError {
  const message = `the log store ${store} does not let this server search all of this range; use another one, or contact the operator of the store`;
  return new IndexAccessDeniedError(503, 'ServiceUnavailable', message, { retryAfterSeconds: 5 }, { cause });
}

export function isIndexAccessDenied(error: unknown): boolean {
  return error instanceof IndexAccessDeniedError;
}

/** The store rejects the credentials of this server: 503; the health check names the configuration section. */
export function newCredentialsRejected(store: string): StatusError {
  const reason = 'the store rejects the credentials of this server (401)';
  return newStoreUnavailable(store, new UnfitOptionError(`logging.${store}`, reason));
}

/** No result within the time limit: 504. `cause`: the error of the store, for the log. */
export function newStoreTimeout(store: string, cause?: unknown): StatusError {
  const message = `the log store ${store} took too long; use a shorter range or fewer namespaces`;
  return newTimeout(message, 5, undefined, cause === undefined ? undefined : { cause });
}

/** The position in a cursor is not from this store, for instance after a change of `logging.store`: 400. */
export function newForeignCursor(store: string): StatusError {
  const message = `is not a cursor of the log store ${store}; omit it for the first page`;
  return newInvalidParameter('cursor', message);
}

/** The store does not support the query: 400, with the alternative. */
export function newNotSupported(
  store: string,
  parameter: string,
  alternative: string,
  cause?: unknown,
): StatusError {
  const message = `the log store ${store} does not support this: ${alternative}`;
  return newInvalidParameter(parameter, message, { reason: 'FieldValueNotSupported', cause });
}
