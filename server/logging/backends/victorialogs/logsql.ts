// Builders of LogsQL filters, with escaping. No other code inserts values into a LogsQL query.
import { earlier, LAST_NANOSECOND } from '../../store/instant.ts';
import type { Instant, Selection } from '../../store/log-store.ts';

export type Range = Selection['range'];

/** Configured field names of a record. The names of the time, the line and the stream are fixed in VictoriaLogs. */
export interface FieldNames {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly containerID: string;
}

/** The field of the time of every record. */
export const TIME = '_time';
/** The field of the line of every record: collectors name their own in `_msg_field`. */
export const MESSAGE = '_msg';
/** Matches every record. */
export const ALL = '*';

/**
 * Quotes a text as one token of LogsQL. The lexer parses quoted strings like Go, which accepts all escapes of JSON except
 * lone surrogates.
 */
export function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

/** Matches a field that equals one of the values; there is at least one. */
export function isOneOf(field: string, values: readonly string[]): string {
  const [only] = values;
  // in("*") matches anything; ="*" matches the character.
  if (only !== undefined && values.length === 1) return `${quoted(field)}:=${quoted(only)}`;
  return `${quoted(field)}:in(${values.map(quoted).join(',')})`;
}

/** Phrase filter or prefix filter of LogsQL. The store defines the words. */
export function matchesWords(
  field: string,
  text: string,
  { prefix, caseSensitive }: { readonly prefix: boolean; readonly caseSensitive: boolean },
): string {
  const words = `${quoted(text)}${prefix ? '*' : ''}`;
  return `${quoted(field)}:${caseSensitive ? words : `i(${words})`}`;
}

/** Matches a field that contains a match of the RE2 pattern. */
export function matchesPattern(field: string, pattern: string): string {
  return `${quoted(field)}:~${quoted(pattern)}`;
}

/** `filters`: at least one. */
export function anyOf(filters: readonly string[]): string {
  const [only] = filters;
  return only !== undefined && filters.length === 1 ? only : `(${filters.join(' or ')})`;
}

/** `filters`: at least one. */
export function allOf(filters: readonly string[]): string {
  return filters.length === 1 ? filters.join('') : `(${filters.join(' ')})`;
}

/** Filter for a time range, exact to the nanosecond, unlike the arguments `start` and `end` of a request. */
export function within({ start, end }: Range): string {
  return `${TIME}:[${storable(start)},${storable(end)})`;
}

export function since(start: Instant): string {
  return `${TIME}:>=${storable(start)}`;
}

function storable(instant: Instant): Instant {
  return earlier(instant, LAST_NANOSECOND);
}
