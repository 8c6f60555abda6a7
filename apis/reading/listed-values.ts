// Comma-separated lists. Spaces around values and empty values are ignored.
import { isRecord } from './unknown-value.ts';

/** The JSON Schema of a list. */
export interface ListBounds {
  readonly maxItems?: unknown;
  readonly items?: unknown;
}

/**
 * Returns the values, at most one more than allowed, which is enough for a validation error and bounds the work. Values of an enum
 * are deduplicated. A list of commas only has one empty value.
 */
export function listedValues(text: string, { maxItems, items }: ListBounds): readonly string[] {
  const words: unknown = isRecord(items) ? items['enum'] : undefined;
  const most = Array.isArray(words) ? words.length : maxItems;
  const values: string[] = [];
  for (const value of valuesIn(text)) {
    if (Array.isArray(words) && values.includes(value)) continue;
    if (values.push(value) > (typeof most === 'number' ? most : Number.POSITIVE_INFINITY)) break;
  }
  return values.length === 0 ? [''] : values;
}

function* valuesIn(text: string): Generator<string, void, undefined> {
  for (let begin = 0; begin <= text.length; ) {
    const comma = text.indexOf(',', begin);
    const end = comma < 0 ? text.length : comma;
    const value = text.slice(begin, end).trim();
    if (value !== '') yield value;
    begin = end + 1;
  }
}
