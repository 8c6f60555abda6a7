import {
  type APIServerConfiguration,
  APIServerConfigurationSchema,
  type ResolvedConfiguration,
} from './configuration.ts';
import { parseDuration, parsePeriod } from './duration.ts';
import { parseQuantity } from './quantity.ts';

/** Durations to milliseconds and quantities to bytes, wherever the schema says that an option is one. */
export function resolveUnits(configuration: APIServerConfiguration): ResolvedConfiguration {
  // The walk follows the schema that the type is derived from, so the shape of its result is known.
  return resolve(configuration, APIServerConfigurationSchema) as ResolvedConfiguration;
}

function resolve(value: unknown, schema: unknown): unknown {
  const format = member(schema, 'format');
  if (format === 'duration') return parseDuration(String(value));
  if (format === 'period') return parsePeriod(String(value));
  if (format === 'quantity') return parseQuantity(String(value));
  if (Array.isArray(value)) return value.map((item) => resolve(item, member(schema, 'items')));
  const properties = member(schema, 'properties');
  if (properties === undefined || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, resolve(inner, member(properties, key))]),
  );
}

function member(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}
