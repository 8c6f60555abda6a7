// Derives the schema of the value `configuration` from the schema of the server's configuration, so that Helm rejects a
// misspelled option before it changes the cluster. The server validates the rest when it starts.

import { APIServerConfigurationSchema } from '../../../apis/config/v1alpha1/configuration.ts';
import { Type } from '../../../apis/reading/json-schema.ts';
import { isRecord } from '../../../apis/reading/unknown-value.ts';

/** Options that the chart sets from other values; the schema rejects them in the block. */
const SET_BY_CHART: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'platform',
  'listeners.secure.port',
  'listeners.secure.certFile',
  'listeners.secure.keyFile',
  'listeners.secure.caFile',
  'listeners.insecure.enabled',
  'listeners.insecure.port',
  'gateway.impersonation',
  'oauth.issuer',
]);

/** Keywords that all versions of Helm validate alike. Helm knows neither our formats, such as `duration`, nor look-ahead in patterns. */
const KEYWORDS = new Set([
  'type',
  'enum',
  'minimum',
  'maximum',
  'minLength',
  'minItems',
  'maxItems',
  'uniqueItems',
]);

export function configurationBlock(description: string) {
  const { type, properties, additionalProperties } = optionsOf(APIServerConfigurationSchema, '');
  return Type.Unsafe<object>({ type, properties, additionalProperties, default: {}, description });
}

/** Options have defaults, except in items of lists, whose `required` stays. */
function optionsOf(schema: unknown, path: string): Record<string, unknown> {
  if (!isRecord(schema)) throw new Error(`the configuration has no schema of ${path}`);
  const { pattern, properties, items, additionalProperties, required } = schema;
  const result = Object.fromEntries(Object.entries(schema).filter(([keyword]) => KEYWORDS.has(keyword)));
  if (typeof pattern === 'string' && !pattern.includes('(?!')) result['pattern'] = pattern;
  if (isRecord(items)) result['items'] = optionsOf(items, `${path}[]`);
  if (additionalProperties !== undefined) result['additionalProperties'] = additionalProperties;
  if (!isRecord(properties)) return result;
  const options = Object.entries(properties)
    .map(([name, option]) => [name, path === '' ? name : `${path}.${name}`, option] as const)
    .filter(([, full]) => !SET_BY_CHART.has(full));
  result['properties'] = Object.fromEntries(
    options.map(([name, full, option]) => [name, optionsOf(option, full)]),
  );
  const needed = Array.isArray(required)
    ? required.filter((name) =>
        options.some(([own, , option]) => own === name && isRecord(option) && !('default' in option)),
      )
    : [];
  if (needed.length > 0) result['required'] = needed;
  return result;
}
