// Creates the Ajv validator of the configuration, with custom formats and keywords.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { OWN_KEYWORDS, TRUSTED_SCHEMA } from '../../reading/schema-validator.ts';
import { type APIServerConfiguration, APIServerConfigurationSchema } from './configuration.ts';
import { AMOUNTS } from './units.ts';

type Validator = ValidateFunction<APIServerConfiguration>;

/** By `explaining`. Weak references: the server needs a validator only at its start, tests need it for each configuration. */
const compiled = new Map<boolean, WeakRef<Validator>>();

/**
 * Returns the validator, compiled at the first call. It also sets the defaults in the validated object. With
 * `explaining`, it collects all errors with details. Without, it compiles in half the time, for a fast start.
 */
export function configurationValidator(explaining: boolean): Validator {
  const known = compiled.get(explaining)?.deref();
  if (known) return known;
  const validator = newValidator(explaining);
  compiled.set(explaining, new WeakRef(validator));
  return validator;
}

function newValidator(explaining: boolean): Validator {
  const ajv = new Ajv2020({
    ...TRUSTED_SCHEMA,
    // The validator runs once or twice, so optimization would take longer than it saves.
    code: { optimize: false },
    allErrors: explaining,
    verbose: explaining,
    messages: explaining,
    useDefaults: true,
  });
  ajv.addVocabulary(OWN_KEYWORDS);
  ajv.addFormat('path', true);
  ajv.addFormat('origin', isOrigin);
  ajv.addFormat('url', isPlainURL);
  for (const [format, amount] of AMOUNTS) {
    ajv.addFormat(String(format), (text: string) => amount(text) !== undefined);
  }
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
        const value = typeof data === 'string' ? amount(data) : undefined;
        // The format reports a value that is not an amount.
        return value === undefined || holds(value, amount(bound) ?? Number.NaN);
      },
    });
  }
  return ajv.compile<APIServerConfiguration>(APIServerConfigurationSchema);
}

function hasFormat(schema: unknown): schema is { readonly format: unknown } {
  return typeof schema === 'object' && schema !== null && 'format' in schema;
}

/**
 * Returns true for an origin in the form that browsers send: lower case, no default port, no path. Rejects patterns
 * with an asterisk, although they are valid URLs.
 */
export function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Returns true for the URL of an HTTP server without credentials, query and fragment, and for an empty text. */
function isPlainURL(text: string): boolean {
  if (text === '') return true;
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && !/[@?#\s]/.test(text);
}
