/**
 * Ajv options for our own schemas. They disable the validation against the metaschema, which would take most of the
 * start; a test validates the schemas instead. Ajv still rejects unknown keywords.
 */
export const TRUSTED_SCHEMA = { meta: false, validateSchema: false } as const;
