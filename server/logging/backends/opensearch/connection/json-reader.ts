// Narrow readers of what a store answers: it is `unknown` until one of these has looked at it.
import { StatusError } from '../../../../../apis/meta/v1/errors.ts';
import { isRecord } from '../../../../../apis/reading/unknown-value.ts';
import { newStoreUnavailable } from '../../../store-errors.ts';
import { STORE } from './store-name.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown, what: string): JsonObject {
  if (!isRecord(value)) throw new Error(`${what} is not an object`);
  return value;
}

export function arrayOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${what} is not a list`);
  return value;
}

export function countOf(value: unknown, what: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new Error(`${what} is not a count`);
  }
  return value;
}

/** What `read` reads: what cannot be read is of a store that does not answer as it should. */
export function valid<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw newStoreUnavailable(STORE, error);
  }
}
