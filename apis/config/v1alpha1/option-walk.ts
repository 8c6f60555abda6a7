import { isRecord } from '../../reading/unknown-value.ts';

/** What becomes of one option. `path`: its place in the file, entries of lists without their number. */
export type OptionChange = (value: unknown, format: unknown, path: readonly string[]) => unknown;

/** A copy of a configuration with every option that the schema gives a format replaced by what `change` makes of it. */
export function changeOptions(
  value: unknown,
  schema: unknown,
  change: OptionChange,
  path: readonly string[] = [],
): unknown {
  if (!isRecord(schema)) return value;
  if (schema['format'] !== undefined) return change(value, schema['format'], path);
  if (Array.isArray(value)) {
    return value.map((item: unknown) => changeOptions(item, schema['items'], change, path));
  }
  const { properties } = schema;
  if (!isRecord(properties) || !isRecord(value)) return value;
  const changed = Object.entries(value).map(([key, inner]) => {
    const option = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return [key, changeOptions(inner, option, change, [...path, key])] as const;
  });
  return Object.fromEntries(changed);
}
