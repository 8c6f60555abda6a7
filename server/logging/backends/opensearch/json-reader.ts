// Type checks for parsed JSON responses of the store.
import { StatusError } from '../../../../apis/meta/v1/errors.ts';
import { isRecord } from '../../../../apis/reading/unknown-value.ts';
import { newStoreUnavailable } from '../../store-errors.ts';
import { STORE } from './error-response.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function objectOf(value: unknown, name: string): JsonObject {
  if (!isRecord(value)) throw new Error(`${name} is not an object`);
  return value;
}

export function arrayOf(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${name} is not an array`);
  return value;
}

export function countOf(value: unknown, name: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new Error(`${name} is not a count`);
  }
  return value;
}

/** Calls `read`, and converts its error about invalid JSON to StoreUnavailable. */
export function valid<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw newStoreUnavailable(STORE, error);
  }
}
