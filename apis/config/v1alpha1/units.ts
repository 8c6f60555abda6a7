import {
  type APIServerConfiguration,
  APIServerConfigurationSchema,
  type ResolvedConfiguration,
} from './configuration.ts';
import { parseDuration, parsePeriod } from './duration.ts';
import { changeOptions } from './option-walk.ts';
import { parseQuantity } from './quantity.ts';

/** Durations to milliseconds and quantities to bytes, wherever the schema says that an option is one. */
export function resolveUnits(configuration: APIServerConfiguration): ResolvedConfiguration {
  const resolved = changeOptions(configuration, APIServerConfigurationSchema, (value, format) => {
    if (format === 'duration') return parseDuration(String(value));
    if (format === 'period') return parsePeriod(String(value));
    return format === 'quantity' ? parseQuantity(String(value)) : value;
  });
  // The walk follows the schema that the type is derived from, so the shape of its result is known.
  return resolved as ResolvedConfiguration;
}
