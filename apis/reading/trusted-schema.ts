/**
 * Ajv options for our own schemas. Validation against the metaschema would dominate the start, so a test does it instead. Unknown
 * keywords are still rejected.
 */
export const TRUSTED_SCHEMA = { meta: false, validateSchema: false } as const;
