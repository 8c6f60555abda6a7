import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { TRUSTED_SCHEMA } from '../../reading/trusted-schema.ts';
import { type APIServerConfiguration, APIServerConfigurationSchema } from './configuration.ts';
import { parseDuration, parsePeriod } from './duration.ts';
import { isOrigin } from './origin.ts';
import { parseQuantity } from './quantity.ts';

/**
 * Checks a configuration and fills in its defaults, in place. One that explains knows every fault with what was wanted;
 * the other one only whether there is any, and is made in half the time, which counts at each start.
 */
export function newValidator(explaining: boolean): ValidateFunction<APIServerConfiguration> {
  const ajv = new Ajv2020({
    ...TRUSTED_SCHEMA,
    // It runs once or twice: what the optimizer takes is never won back.
    code: { optimize: false },
    allErrors: explaining,
    verbose: explaining,
    messages: explaining,
    useDefaults: true,
    allowUnionTypes: true,
  });
  ajv.addVocabulary(['expects']);
  ajv.addFormat('path', true);
  ajv.addFormat('origin', isOrigin);
  ajv.addFormat('duration', (text: string) => parseDuration(text) !== undefined);
  ajv.addFormat('period', (text: string) => parsePeriod(text) !== undefined);
  ajv.addFormat('quantity', (text: string) => parseQuantity(text) !== undefined);
  for (const [keyword, holds] of [
    ['atLeast', (value: number, bound: number) => value >= bound],
    ['atMost', (value: number, bound: number) => value <= bound],
  ] as const) {
    ajv.addKeyword({
      keyword,
      schemaType: 'string',
      validate: (bound: string, data: unknown, schema: unknown) => {
        const amount = hasFormat(schema) ? AMOUNTS.get(schema['format']) : undefined;
        if (!amount) return true;
        const value = typeof data === 'string' || Number.isInteger(data) ? amount(String(data)) : undefined;
        // A value that is not an amount at all has its own fault, of its format.
        return value === undefined || holds(value, amount(bound) ?? Number.NaN);
      },
    });
  }
  return ajv.compile<APIServerConfiguration>(APIServerConfigurationSchema);
}

const AMOUNTS: ReadonlyMap<unknown, (text: string) => number | undefined> = new Map([
  ['duration', parseDuration],
  ['period', parsePeriod],
  ['quantity', parseQuantity],
]);

function hasFormat(schema: unknown): schema is { readonly format: unknown } {
  return typeof schema === 'object' && schema !== null && 'format' in schema;
}
