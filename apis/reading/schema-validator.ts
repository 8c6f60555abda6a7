// Validators of untrusted values against the JSON Schemas of this project. schema-error.ts describes their errors.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TSchema } from 'typebox';
import { messageOf } from './thrown-value.ts';

/**
 * Ajv options that skip the metaschema validation of this project's schemas, for a faster start. A unit test
 * validates the schemas, and Ajv still rejects unknown keywords.
 */
export const TRUSTED_SCHEMA = { meta: false, validateSchema: false } as const;

/** Keywords of this project: `expects` describes the accepted values of a schema in words. */
export const OWN_KEYWORDS = ['expects'];

/** Formats that only document: secrets, and timestamps, which are only compared with stored ones. */
const DOCUMENTED_FORMATS = ['date-time', 'password'];

/** A format of text values. */
export interface Format {
  /** Noun with an article, for instance "a selector". */
  readonly noun: string;
  /** Throws an Error whose message says what is wrong. */
  check(text: string): void;
}

/** Formats by their name in the schema. */
export type Formats = Readonly<Record<string, Format>>;

/** Returns what is wrong with a text; undefined for a valid one. */
export function formatError(format: Format, text: string): string | undefined {
  try {
    format.check(text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** Compiles a schema to a validator that collects all errors, and sets the defaults of the schema in its argument. */
export function compileSchema<Schema extends TSchema>(
  schema: Schema,
  formats: Formats = {},
): ValidateFunction<Static<Schema>> {
  const ajv = new Ajv2020({ ...TRUSTED_SCHEMA, allErrors: true, useDefaults: true, verbose: true });
  ajv.addVocabulary(OWN_KEYWORDS);
  for (const name of DOCUMENTED_FORMATS) ajv.addFormat(name, true);
  for (const [name, format] of Object.entries(formats)) {
    ajv.addFormat(name, (text: string) => formatError(format, text) === undefined);
  }
  return ajv.compile<Static<Schema>>(schema);
}
