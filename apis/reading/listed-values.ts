// Lists that are written with commas. People type them: spaces around a value do not count, nor does what is empty
// between commas, as long as something else is there.
import { isRecord } from './unknown-value.ts';

/** What JSON Schema says of a list. */
export interface ListBounds {
  readonly maxItems?: unknown;
  readonly items?: unknown;
}

/**
 * The values, but at most one more than there may be: that one is enough to find the fault, and looking at hundreds of
 * thousands would take long. Where only a few words are allowed, each is given once. A list of nothing but commas has one
 * value, which is empty.
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
