// How values become LogsQL: each through one of these functions, and nothing else writes values into a query.
import { earlier, LAST_NANOSECOND } from '../../../instant.ts';
import type { Instant } from '../../../log-store.ts';

/**
 * A token of LogsQL that stands for the text, whatever is in it. The lexer reads what is between double quotes by Go's
 * rules, and JSON's escapes are a part of those, except for halves of surrogate pairs.
 */
export function quoted(text: string): string {
  return JSON.stringify(text.toWellFormed());
}

/** A field that is exactly one of the values, of which there is at least one. */
export function isOneOf(field: string, values: readonly string[]): string {
  const [only] = values;
  // in("*") would mean anything at all; ="*" is the one character.
  if (only !== undefined && values.length === 1) return `${quoted(field)}:=${quoted(only)}`;
  return `${quoted(field)}:in(${values.map(quoted).join(',')})`;
}

/** `pattern`: RE2, found anywhere in the field. */
export function matches(field: string, pattern: string): string {
  return `${quoted(field)}:~${quoted(pattern)}`;
}

/** So many characters, at most. */
export function isAtMost(field: string, length: number): string {
  return `${quoted(field)}:len_range(0, ${length})`;
}

/** `filters`: at least one. */
export function eitherOf(filters: readonly string[]): string {
  const [only] = filters;
  return only !== undefined && filters.length === 1 ? only : `(${filters.join(' or ')})`;
}

/** `filters`: at least one. */
export function allOf(filters: readonly string[]): string {
  return filters.length === 1 ? filters.join('') : `(${filters.join(' ')})`;
}

/** `filter`: one alone, or in brackets. */
export function not(filter: string): string {
  return filter.startsWith('!') ? filter.slice(1) : `!${filter}`;
}

/** Where the store keeps times, under this name and no other. */
export const TIME = '_time';

function atMost(instant: Instant): Instant {
  return earlier(instant, LAST_NANOSECOND);
}

/** From `start`, before `end`, to the nanosecond; the arguments `start` and `end` of requests are not that exact. */
export function within({ start, end }: { readonly start: Instant; readonly end: Instant }): string {
  return `${TIME}:[${atMost(start)},${atMost(end)})`;
}

export function since(start: Instant): string {
  return `${TIME}:>=${atMost(start)}`;
}
