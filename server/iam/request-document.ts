// Reader of JSON request bodies of the users API, with validation. Error responses contain no values of the body,
// because a value may be a password.
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { Static, TSchema } from 'typebox';
import { newBadRequest, newInvalid, newUnsupportedMediaType } from '../../apis/meta/v1/errors.ts';
import type { StatusCause } from '../../apis/meta/v1/status.ts';
import { invalidValue, ValidationCauses } from '../../apis/meta/v1/validation-causes.ts';
import { fieldPath } from '../../apis/reading/schema-error.ts';
import { compileSchema } from '../../apis/reading/schema-validator.ts';
import { isRecord, recordIn, text } from '../../apis/reading/unknown-value.ts';
import { readBody } from '../http/request-body.ts';
import type { RequestContext } from '../request/request-context.ts';

const MAX_BYTES = 64 * 1024;
/** Maximum length of an object name from the request in a response. */
const MAX_NAME_ECHO = 200;

const WORDING = {
  unknown: 'unknown or read-only field',
  missing: 'Required value',
  quotesValues: false,
} as const;

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
    const validate = (this.#compiled ??= compileSchema(this.#schema));
    if (!validate(document)) {
      throw this.#invalid(shownName, new ValidationCauses().addErrors(validate.errors ?? [], WORDING));
    }
    const malformed = malformedStrings(document);
    if (malformed.length > 0) throw this.invalid(shownName, malformed);
    return document;
  }

  invalid(name: string, causes: readonly StatusCause[]): Error {
    return this.#invalid(name, new ValidationCauses().add(...causes));
  }

  #invalid(name: string, found: ValidationCauses): Error {
    return newInvalid({ group: this.#group, kind: this.#kind, name }, found.causes, found.texts());
  }
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

/**
 * Returns a cause for each string or key with a lone surrogate. JSON can escape one, but UTF-8 cannot encode it, so the
 * stored value would differ. Recursive, because the schema has bounded the depth.
 */
function malformedStrings(value: unknown, path: readonly string[] = []): StatusCause[] {
  if (typeof value === 'string') {
    return value.isWellFormed() ? [] : [invalidValue(fieldPath(path), 'must be well-formed Unicode')];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    ...(key.isWellFormed() ? [] : [invalidValue(fieldPath(path), 'must have well-formed Unicode keys')]),
    ...malformedStrings(member, [...path, key]),
  ]);
}
