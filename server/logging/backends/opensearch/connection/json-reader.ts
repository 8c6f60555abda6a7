// Narrow readers of what a store answers: it is `unknown` until one of these has looked at it.
import { isRecord } from '../../../../../apis/reading/unknown-value.ts';

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
