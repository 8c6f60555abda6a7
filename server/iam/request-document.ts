// Reader of JSON request bodies of the users API, with validation. Error responses contain no values of the body,
// because a value may be a password.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TSchema } from 'typebox';
import { newBadRequest, newInvalid, newUnsupportedMediaType } from '../../apis/meta/v1/errors.ts';
import type { StatusCause } from '../../apis/meta/v1/status.ts';
import { segmentsOf } from '../../apis/reading/json-pointer.ts';
import { TRUSTED_SCHEMA } from '../../apis/reading/trusted-schema.ts';
import { isRecord, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { readBody } from '../http/request-body.ts';
import type { RequestContext } from '../request/request-context.ts';

const MAX_BYTES = 64 * 1024;
/** Maximum number of causes in a response, so that a small invalid document cannot cause a large response. */
const MAX_CAUSES = 40;
/** Maximum length of a field name or object name from the request in a response. */
const MAX_NAME_ECHO = 200;

export class RequestDocumentReader<Schema extends TSchema> {
  readonly #kind: string;
  readonly #group: string;
  readonly #schema: Schema;
  #compiled: ValidateFunction<Static<Schema>> | undefined;

  constructor(kind: string, group: string, schema: Schema) {
    this.#kind = kind;
    this.#group = group;
    this.#schema = schema;
  }

  /**
   * Throws UnsupportedMediaType, RequestEntityTooLarge, BadRequest for a body that is not a JSON object, and Invalid with
   * all causes. `name`: object name from the path; without one the error contains `metadata.name` of the body.
   */
  async read({ request }: RequestContext, name?: string): Promise<Static<Schema>> {
    const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
    if (type !== 'application/json')
      throw newUnsupportedMediaType('the Content-Type of the body must be application/json');
    const document = parse(await readBody(request, MAX_BYTES));
    const shownName = name ?? text(recordIn(document, 'metadata')['name']).slice(0, MAX_NAME_ECHO);
    const validate = (this.#compiled ??= compile(this.#schema));
    if (!validate(document)) {
      throw this.invalid(shownName, distinct((validate.errors ?? []).map(causeOf)));
    }
    const malformed = malformedStrings(document);
    if (malformed.length > 0) throw this.invalid(shownName, malformed);
    return document;
  }

  invalid(name: string, causes: readonly StatusCause[]): Error {
    const shown = causes.slice(0, MAX_CAUSES);
    const messages = shown.map(({ field, message }) => `${field}: ${message}`);
    if (causes.length > shown.length) messages.push(`and ${causes.length - shown.length} more`);
    const summary = messages.length === 1 ? messages[0] : `[${messages.join(', ')}]`;
    return newInvalid(`${this.#kind}.${this.#group} "${name}" is invalid: ${summary}`, shown, {
      group: this.#group,
      kind: this.#kind,
      name,
    });
  }
}

export function invalidValue(field: string, message: string): StatusCause {
  return { reason: 'FieldValueInvalid', field, message };
}

function compile<Schema extends TSchema>(schema: Schema): ValidateFunction<Static<Schema>> {
  const ajv = new Ajv2020({ ...TRUSTED_SCHEMA, allErrors: true, verbose: true });
  ajv.addVocabulary(['expects']);
  // Timestamps in requests are only compared with the stored ones.
  ajv.addFormat('date-time', true);
  return ajv.compile<Static<Schema>>(schema);
}

function parse(body: Buffer): unknown {
  let document: unknown;
  try {
    const decoded = new TextDecoder('utf-8', { fatal: true }).decode(body);
    // Go clients send `creationTimestamp: null` for an object without one.
    document = JSON.parse(decoded, (key, value: unknown) =>
      key === 'creationTimestamp' && value === null ? undefined : value,
    );
  } catch {
    throw newBadRequest('the body is not valid JSON in UTF-8');
  }
  if (!isRecord(document)) throw newBadRequest('the body must be a JSON object');
  return document;
}

function causeOf({ keyword, instancePath, params, parentSchema, message }: ErrorObject): StatusCause {
  const path = segmentsOf(instancePath);
  if (keyword === 'required') {
    const field = fieldOf([...path, String(params['missingProperty'])]);
    return { reason: 'FieldValueRequired', field, message: 'Required value' };
  }
  if (keyword === 'additionalProperties') {
    const field = fieldOf([...path, String(params['additionalProperty'])]);
    return invalidValue(field, 'unknown or read-only field');
  }
  const expects: unknown = parentSchema?.['expects'];
  return invalidValue(
    fieldOf(path),
    typeof expects === 'string' ? `must be ${expects}` : (message ?? keyword),
  );
}

/** Drops duplicates: two keywords can yield the same message, such as the length and the pattern of a name. */
function distinct(causes: readonly StatusCause[]): StatusCause[] {
  return [...new Map(causes.map((cause) => [`${cause.field}\n${cause.message}`, cause])).values()];
}

/**
 * Returns a cause for each string or key with a lone surrogate. JSON can escape one, but UTF-8 cannot encode it, so the
 * stored value would differ. Recursive, because the schema has bounded the depth.
 */
function malformedStrings(value: unknown, path: readonly string[] = []): StatusCause[] {
  if (typeof value === 'string') {
    return value.isWellFormed() ? [] : [invalidValue(fieldOf(path), 'must be well-formed Unicode')];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    ...(key.isWellFormed() ? [] : [invalidValue(fieldOf(path), 'must have well-formed Unicode keys')]),
    ...malformedStrings(member, [...path, key]),
  ]);
}

/** Field path in the notation of Kubernetes, for instance `spec.groups[0]`. */
function fieldOf(path: readonly string[]): string {
  const name = path.reduce((field, segment) => {
    if (/^\d+$/.test(segment)) return `${field}[${segment}]`;
    return field === '' ? segment : `${field}.${segment}`;
  }, '');
  return name.slice(0, MAX_NAME_ECHO);
}
