// Converts relative paths to absolute paths, and durations to milliseconds, in a validated configuration. The `format` in the schema of an option selects the conversion.
import { isRecord } from '../../reading/unknown-value.ts';
import {
  type APIServerConfiguration,
  APIServerConfigurationSchema,
  type ResolvedConfiguration,
} from './configuration.ts';
import { AMOUNTS } from './units.ts';

/** Converts durations to milliseconds. */
export function resolveUnits(configuration: APIServerConfiguration): ResolvedConfiguration {
  const resolved = convertOptions(configuration, APIServerConfigurationSchema, (value, format) => {
    const amount = AMOUNTS.get(format);
    return amount ? amount(String(value)) : value;
  });
  // The type is derived from the same schema.
  return resolved as ResolvedConfiguration;
}

/**
 * Converts the value of every non-empty path option with `absolute`. The parameter `option` is the name of the option
 * as segments, such as `['listeners', 'secure', 'certFile']`.
 */
export function resolvePaths(
  configuration: APIServerConfiguration,
  absolute: (path: string, option: readonly string[]) => string,
): APIServerConfiguration {
  const resolved = convertOptions(configuration, APIServerConfigurationSchema, (value, format, option) =>
    format === 'path' && typeof value === 'string' && value !== '' ? absolute(value, option) : value,
  );
  // The type is derived from the same schema.
  return resolved as APIServerConfiguration;
}

/** Converts one value. `path`: the name of the option as segments, without the indices of list items. */
type OptionConversion = (value: unknown, format: unknown, path: readonly string[]) => unknown;

/** Returns a copy in the order of the schema, in which `convert` has converted every option that has a format. */
function convertOptions(
  value: unknown,
  schema: unknown,
  convert: OptionConversion,
  path: readonly string[] = [],
): unknown {
  if (!isRecord(schema)) return value;
  if (schema['format'] !== undefined) return convert(value, schema['format'], path);
  if (Array.isArray(value)) {
    return value.map((item: unknown) => convertOptions(item, schema['items'], convert, path));
  }
  const { properties } = schema;
  if (!isRecord(properties) || !isRecord(value)) return value;
  const known = Object.keys(properties).filter((key) => Object.hasOwn(value, key));
  const others = Object.keys(value).filter((key) => !Object.hasOwn(properties, key));
  const converted = [...known, ...others].map((key) => {
    const option = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return [key, convertOptions(value[key], option, convert, [...path, key])] as const;
  });
  return Object.fromEntries(converted);
}
