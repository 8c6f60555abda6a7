/**
 * Options of Ajv for schemas of our own. It would check each against the schema of schemas, which takes longer than all
 * of them together, at every start; a test does it instead. Words that it does not know it refuses all the same.
 */
export const TRUSTED_SCHEMA = { meta: false, validateSchema: false } as const;
