import { APIServerConfigurationSchema, type ResolvedConfiguration } from './configuration.ts';
import { changeOptions } from './option-walk.ts';

/**
 * Every option that the schema calls a path, as `absolute` makes it; an empty one names no file and stays empty.
 * `option`: such as `['listeners', 'secure', 'certFile']`.
 */
export function resolvePaths(
  configuration: ResolvedConfiguration,
  absolute: (path: string, option: readonly string[]) => string,
): ResolvedConfiguration {
  const resolved = changeOptions(configuration, APIServerConfigurationSchema, (value, format, option) =>
    format === 'path' && typeof value === 'string' && value !== '' ? absolute(value, option) : value,
  );
  // The walk follows the schema that the type is derived from, so the shape of its result is known.
  return resolved as ResolvedConfiguration;
}
