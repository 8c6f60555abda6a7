// How stores tell that they can not answer. Their own words stay in `cause`, for the log: they may hold addresses.
import {
  newBadRequest,
  newServiceUnavailable,
  newTimeout,
  type StatusError,
} from '../../apis/meta/v1/errors.ts';

/** The store is down, refuses us or answers nonsense: 503, to be tried again. */
export function newStoreUnavailable(store: string, cause: unknown): StatusError {
  return newServiceUnavailable(`the log store ${store} does not answer as it should; try again later`, 5, {
    cause,
  });
}

/** Nothing was found out in the time there was: 504. */
export function newStoreTimeout(store: string): StatusError {
  return newTimeout(
    `the log store ${store} took too long; ask for a shorter time or for fewer namespaces`,
    5,
  );
}

/** The store can not answer this question however often it is asked: 400, with the cure. */
export function newNotSupported(store: string, parameter: string, cure: string): StatusError {
  const message = `the log store ${store} can not do this: ${cure}`;
  return newBadRequest(`${parameter}: ${message}`, [
    { reason: 'FieldValueNotSupported', message, field: parameter },
  ]);
}
