/**
 * Ajv options for the schemas of this project. They disable the validation of the schemas against the metaschema,
 * because it would take most of the startup time; a unit test validates the schemas instead. Ajv still rejects unknown
 * keywords.
 */
export const TRUSTED_SCHEMA = { meta: false, validateSchema: false } as const;
