// How stores report that they cannot answer. Their own messages stay in `cause`, for the log: they may contain addresses.
import {
  newBadRequest,
  newInvalidParameter,
  newServiceUnavailable,
  newTimeout,
  StatusError,
} from '../../apis/meta/v1/errors.ts';
import { UnfitOptionError } from './configuration-errors.ts';

/** The store is down, refuses us or answers nonsense: 503, to be tried again. */
export function newStoreUnavailable(store: string, cause: unknown): StatusError {
  return newServiceUnavailable(`the log store ${store} does not answer as it should; try again later`, 5, {
    cause,
  });
}

class StoreExhaustedError extends StatusError {}

/** The store has no memory for this at the moment: 503. Fewer lines, a moment later, may find room. */
export function newStoreExhausted(store: string, cause: unknown): StatusError {
  const message = `the log store ${store} is short of memory; try again later, or ask for fewer lines`;
  return new StoreExhaustedError(503, 'ServiceUnavailable', message, { retryAfterSeconds: 5 }, { cause });
}

export function isStoreExhausted(error: unknown): boolean {
  return error instanceof StoreExhaustedError;
}

export interface StoreBusyReason {
  /** What the store itself says of it, for the log. */
  readonly cause: unknown;
  /** As the store tells it, if it does. */
  readonly retryAfterSeconds?: number | undefined;
}

/** The store has more to do than it can at the moment: 503, with the time to come again. */
export function newStoreBusy(store: string, { cause, retryAfterSeconds = 5 }: StoreBusyReason): StatusError {
  const message = `the log store ${store} has too much to do; try again later`;
  return newServiceUnavailable(message, Math.max(1, retryAfterSeconds), { cause });
}

class SearchRefusedError extends StatusError {}

/** The store lets this server in, but not everywhere: 503, since the caller can do nothing but ask for another time. */
export function newSearchRefused(store: string, cause: unknown): StatusError {
  const message = `the log store ${store} does not let this server search all of this time; ask for another one, or tell who runs the store`;
  return new SearchRefusedError(503, 'ServiceUnavailable', message, { retryAfterSeconds: 5 }, { cause });
}

export function isSearchRefused(error: unknown): boolean {
  return error instanceof SearchRefusedError;
}

/** The store does not know who this server says it is: 503, and the health names the section with the credentials. */
export function newCredentialsRefused(store: string): StatusError {
  const reason = 'the store refuses the credentials of this server (401)';
  return newStoreUnavailable(store, new UnfitOptionError(`logging.${store}`, reason));
}

export interface StoreTimeoutReason {
  /** What the store itself says of it, for the log. */
  readonly cause?: unknown;
  /** For how long it has answered nobody, in ms; 0 where it may only be slow. */
  readonly silentMs?: number;
}

/** There was no result within the time limit: 504. */
export function newStoreTimeout(
  store: string,
  { cause, silentMs = 0 }: StoreTimeoutReason = {},
): StatusError {
  const message =
    silentMs > 0
      ? `the log store ${store} has answered nothing at all for ${Math.floor(silentMs / 1000)} s; try again later, and if it stays so, tell who runs the store`
      : `the log store ${store} took too long; ask for a shorter time or for fewer namespaces`;
  return newTimeout(message, 5, undefined, cause === undefined ? undefined : { cause });
}

/** The position in a cursor is none that the store has handed out; another one may have, which it replaced: 400. */
export function newForeignCursor(store: string): StatusError {
  const message = `is none of the log store ${store}; leave it out to begin with the first page`;
  return newInvalidParameter('cursor', message);
}

/** The store cannot answer this question however often it is asked: 400, with the cure. */
export function newNotSupported(
  store: string,
  parameter: string,
  cure: string,
  cause?: unknown,
): StatusError {
  const message = `the log store ${store} cannot do this: ${cure}`;
  return newBadRequest(
    `${parameter}: ${message}`,
    [{ reason: 'FieldValueNotSupported', message, field: parameter }],
    cause === undefined ? undefined : { cause },
  );
}
