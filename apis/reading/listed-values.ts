// Parser of comma-separated lists in query parameters. Spaces around values and empty values are removed.
import { isRecord } from './unknown-value.ts';

/** The JSON Schema of a list. */
interface ListBounds {
  readonly maxItems?: unknown;
  readonly items?: unknown;
}

/**
 * Returns the values of a list. To bound the work, it stops at one value above the maximum, which is sufficient for a
 * validation error. Duplicate values of an enum are removed.
 */
export function listedValues(text: string, { maxItems, items }: ListBounds): readonly string[] {
  const words: unknown = isRecord(items) ? items['enum'] : undefined;
  const most = Array.isArray(words) ? words.length : maxItems;
  const values: string[] = [];
  for (const value of valuesIn(text)) {
    if (Array.isArray(words) && values.includes(value)) continue;
    if (values.push(value) > (typeof most === 'number' ? most : Number.POSITIVE_INFINITY)) break;
  }
  return values;
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
