/**
 * Ajv options that skip the metaschema validation of this project's schemas, for a faster start. A unit test
 * validates the schemas, and Ajv still rejects unknown keywords.
 */
export const TRUSTED_SCHEMA = { meta: false, validateSchema: false } as const;
